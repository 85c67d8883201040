"""What a memory adds to an agent's run: recall and recording, at a history of 100,000 tokens in a SQLite file.

Runs one agent with the middleware and one without in turn, and reports the difference of the medians, and the time
spent inside the middleware's hooks. The history is made up from a fixed seed.

    python benchmarks/langchain_overhead.py [--tokens 100000] [--runs 40]
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from langchain.agents import create_agent
from langchain_core.language_models import FakeListChatModel
from langchain_llmslim import LLMSlimMemoryMiddleware
from langgraph.checkpoint.memory import InMemorySaver

from llmslim_memory import Memory

HOOKS = ("before_agent", "before_model", "wrap_model_call", "after_model", "after_agent")
STEMS = [
    "bra",
    "cor",
    "del",
    "fen",
    "gor",
    "hil",
    "jam",
    "kel",
    "lun",
    "mor",
    "nar",
    "pel",
    "quil",
    "ros",
    "sel",
    "tam",
    "ul",
    "vor",
    "wen",
    "yar",
]


def words(random_: random.Random, count: int) -> str:
    # Frequencies fall as in real text, so that postings lists have real lengths.
    ranks = (min(int(random_.paretovariate(1.0)), 3999) for _ in range(count))
    return " ".join(STEMS[r % 20] + STEMS[r // 20 % 20] + STEMS[r // 400 % 20] for r in ranks)


def fill(memory: Memory, tokens: int) -> int:
    random_ = random.Random(7)
    written = session = 0
    while written < tokens:
        turns = []
        for _ in range(10):
            turns += [
                {"role": "user", "content": words(random_, random_.randint(10, 60)) + "?"},
                {"role": "assistant", "content": words(random_, random_.randint(40, 200)) + "."},
            ]
        memory.add(turns, user_id="ann", run_id=f"old {session}", timestamp=1_700_000_000 + session * 3600)
        written += sum(memory.counter(turn["content"]) for turn in turns)
        session += 1
    return written


class Timed(LLMSlimMemoryMiddleware):
    """Adds up the time spent in its hooks, the model's own apart."""

    spent = 0.0


def timed(name: str) -> Callable[..., Any]:
    hook = getattr(LLMSlimMemoryMiddleware, name)

    def node(self: Timed, state: Any, runtime: Any, config: Any) -> Any:
        start = time.perf_counter()
        try:
            return hook(self, state, runtime, config)
        finally:
            self.spent += time.perf_counter() - start

    def wrap(self: Timed, request: Any, handler: Any) -> Any:
        inside = 0.0

        def call(changed: Any) -> Any:
            nonlocal inside
            start = time.perf_counter()
            try:
                return handler(changed)
            finally:
                inside = time.perf_counter() - start

        start = time.perf_counter()
        try:
            return hook(self, request, call)
        finally:
            self.spent += time.perf_counter() - start - inside

    return wrap if name == "wrap_model_call" else node


for hook_name in HOOKS:
    function = timed(hook_name)
    function.__annotations__ = getattr(LLMSlimMemoryMiddleware, hook_name).__annotations__
    setattr(Timed, hook_name, function)


class Sample(NamedTuple):
    """Milliseconds: of the agent alone, with memory, inside the hooks, and of processor time that memory adds."""

    alone: float
    remembering: float
    hooks: float
    processor: float


def run(agent: Any, question: str, thread: str) -> tuple[float, float]:
    start, busy = time.perf_counter(), time.process_time()
    agent.invoke({"messages": [("user", question)]}, {"configurable": {"thread_id": thread}})
    return (time.perf_counter() - start) * 1e3, (time.process_time() - busy) * 1e3


def measure(memory: Memory, runs: int, *, checkpoints: bool) -> list[Sample]:
    def agent(*middleware: Any) -> Any:
        saver = InMemorySaver() if checkpoints else None
        model = FakeListChatModel(responses=["Noted."])
        return create_agent(model, middleware=middleware, checkpointer=saver)

    ours = Timed(memory, user_id="ann", on_error="raise")
    with_memory, without = agent(ours), agent()
    random_ = random.Random(11)
    samples = []
    for number in range(runs + 3):
        question = words(random_, 12) + "?"
        thread = f"new {number // 10} {checkpoints}"
        alone, alone_busy = run(without, question, thread)
        ours.spent = 0.0
        remembering, busy = run(with_memory, question, thread)
        samples.append(Sample(alone, remembering, ours.spent * 1e3, busy - alone_busy))
    return samples[3:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=40)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Memory(Path(folder) / "memory.db") as memory:
        tokens = fill(memory, options.tokens)
        turns = len(memory.get_all(user_id="ann"))
        print(f"history: {tokens:,} tokens in {turns:,} turns ({memory.counter.name}), SQLite file")
        for checkpoints in (True, False):
            samples = measure(memory, options.runs, checkpoints=checkpoints)
            middle = Sample(*(statistics.median(column) for column in zip(*samples, strict=True)))
            hooks = [sample.hooks for sample in samples]
            print(
                f"{'with' if checkpoints else 'without'} a checkpointer, medians of {len(samples)} runs: "
                f"agent alone {middle.alone:.1f} ms, with memory {middle.remembering:.1f} ms; "
                f"recall and recording take {middle.hooks:.1f} ms (fastest {min(hooks):.1f} ms), "
                f"{middle.processor:.1f} ms of processor time"
            )


if __name__ == "__main__":
    main()
