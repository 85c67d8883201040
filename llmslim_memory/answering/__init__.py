"""Answers questions about a memory: in this process, or in others that work for it."""

from llmslim_memory.answering.address import address, check_workable
from llmslim_memory.answering.here import Answerer
from llmslim_memory.answering.question import Extent, Question
from llmslim_memory.answering.workers import Settings, Workers

__all__ = ["Answerer", "Extent", "Question", "Settings", "Workers", "address", "check_workable"]
