"""A chat loop with a memory, without any framework: recall, wrap, ask, keep.

The model is a stand-in that needs no key: it says what a real one would find in its prompt. Each question is asked in a
session of its own, so nothing but the memory connects them.
"""

import tempfile
from pathlib import Path

from llmslim_memory import ContextEnvelope, Memory

BUDGET = 800


def model(messages: list[dict[str, str]]) -> str:
    """Stands for a call such as ``client.chat.completions.create(model=..., messages=messages)``."""
    shown = "\n".join(message["content"] for message in messages[:-1])
    return "In the blue tin, on the top shelf." if "blue tin" in shown else "Noted."


def answer(memory: Memory, question: str, *, user_id: str, session: str) -> str:
    room = ContextEnvelope.room(BUDGET, count=memory.counter, user_id=user_id)
    context = memory.search(question, user_id=user_id, budget=room)
    messages = [
        {"role": "system", "content": "You are a helpful assistant."},
        *ContextEnvelope(context, user_id=user_id).to_messages(),
        {"role": "user", "content": question},
    ]
    asked = {"role": "user", "content": question}
    memory.add(asked, user_id=user_id, run_id=session)  # kept even if the model fails
    reply = model(messages)
    memory.add({"role": "assistant", "content": reply}, user_id=user_id, run_id=session)
    return reply


with tempfile.TemporaryDirectory() as folder, Memory(Path(folder) / "memory.db") as memory:
    for session, question in (
        ("monday", "I put the spare keys into the blue tin on the top shelf."),
        ("friday", "Where are the spare keys?"),
    ):
        print(f"{session}, user:      {question}")
        print(f"{session}, assistant: {answer(memory, question, user_id='mira', session=session)}")
    print("kept:", len(memory.get_all(user_id="mira")), "turns")
