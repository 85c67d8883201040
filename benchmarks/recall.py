"""How much of the labelled evidence each system brings back within a token budget, on any folder of conversations.

    python benchmarks/recall.py FOLDER... [--budgets 500,1000,2000,4000] [--encoding cl100k_base] [--relevance lexical]

Beside this library stand plain BM25 over whole turns (``bm25s``), the latest turns, and ``llmslim`` where it is
installed. ``cover`` is the mean share of an evidence turn's word 4-grams that stand in the text, ``full`` the share of
questions whose evidence is covered to 0.8 or more throughout, ``any`` of those where one turn is, ``touch`` the mean
share of evidence turns that are shown at least in part, ``over`` the share of texts above the budget.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from histories import WORD, Conversation, Question, as_message, read_folder
from rich.console import Console
from rich.table import Table

from llmslim_memory import Memory, MemoryItem
from llmslim_memory.tokens import TokenCounter, make_counter

Grams = frozenset[tuple[str, ...]]
Search = Callable[[str, int], str]
"""From a question and a budget to a text."""

COVERED = 0.8
TOUCHED_GRAMS = 20


def grams(text: str, size: int = 4) -> Grams:
    """The runs of four words in a text; all its words where there are fewer."""
    words = WORD.findall(text.lower())
    if len(words) < size:
        return frozenset({tuple(words)} if words else ())
    return frozenset(tuple(words[at : at + size]) for at in range(len(words) - size + 1))


@dataclass(slots=True)
class Tally:
    """The figures of one system at one budget."""

    cover: list[float] = field(default_factory=list)
    full: list[float] = field(default_factory=list)
    some: list[float] = field(default_factory=list)
    touch: list[float] = field(default_factory=list)
    over: list[float] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)

    def add(self, evidence: list[Grams], text: str, *, over: bool, milliseconds: float) -> None:
        """Score a text against the evidence of its question."""
        shown = grams(text)
        covers = [len(turn & shown) / len(turn) if turn else 1.0 for turn in evidence]
        touched = [len(turn & shown) >= min(COVERED * len(turn), TOUCHED_GRAMS) for turn in evidence]
        self.cover.append(statistics.fmean(covers))
        self.full.append(all(cover >= COVERED for cover in covers))
        self.some.append(any(cover >= COVERED for cover in covers))
        self.touch.append(statistics.fmean(touched))
        self.over.append(over)
        self.milliseconds.append(milliseconds)

    def figures(self) -> list[str]:
        """Means, and the median time."""
        columns = (self.cover, self.full, self.some, self.touch, self.over)
        means = [f"{statistics.fmean(column):.3f}" for column in columns]
        return [*means, f"{statistics.median(self.milliseconds):.1f}"]


def ours(conversation: Conversation, encoding: str, relevance: str) -> Search:
    memory = Memory(encoding=encoding, relevance=relevance)
    for turn in conversation.turns:
        memory.add(as_message(turn), user_id=turn.user_id, run_id=turn.run_id)
    user = conversation.turns[0].user_id
    return lambda question, budget: memory.search(question, user_id=user, budget=budget).text


def llmslim(conversation: Conversation) -> Search | None:
    try:
        from llmslim.memory import Memory as PeerMemory
    except ImportError:
        return None
    memory = PeerMemory()
    for turn in conversation.turns:
        message = {"role": turn.role, "content": turn.content}
        memory.add(message, user_id=turn.user_id, run_id=turn.run_id, timestamp=turn.created_at)
    user = conversation.turns[0].user_id
    return lambda question, budget: str(memory.search(question, user_id=user, budget=budget).text)


def packed(turns: Iterator[MemoryItem], budget: int, count: TokenCounter) -> str:
    """Turns as they come while they fit, in the order of time."""
    kept: list[MemoryItem] = []
    room = budget
    for turn in turns:
        cost = count(labelled(turn)) + 1
        if cost <= room:
            kept.append(turn)
            room -= cost
    return "\n".join(labelled(turn) for turn in sorted(kept, key=lambda turn: turn.seq))


def labelled(turn: MemoryItem) -> str:
    return f"[{turn.created_at:%Y-%m-%d}] {turn.role}: {turn.content}"


def plain_bm25(conversation: Conversation, count: TokenCounter) -> Search | None:
    try:
        import bm25s
    except ImportError:
        return None
    index = bm25s.BM25()
    index.index([WORD.findall(turn.content.lower()) for turn in conversation.turns], show_progress=False)

    def search(question: str, budget: int) -> str:
        known = [word for word in WORD.findall(question.lower()) if word in index.vocab_dict]
        if not known:
            return ""
        best = index.get_scores(known).argsort(kind="stable")[::-1]
        return packed((conversation.turns[at] for at in best), budget, count)

    return search


def recency(conversation: Conversation, count: TokenCounter) -> Search:
    return lambda _, budget: packed(reversed(conversation.turns), budget, count)


def systems(conversation: Conversation, encoding: str, relevance: str) -> dict[str, Search]:
    count = make_counter(encoding)
    found = {
        f"llmslim-memory ({relevance})": ours(conversation, encoding, relevance),
        "llmslim": llmslim(conversation),
        "BM25 (bm25s)": plain_bm25(conversation, count),
        "latest turns": recency(conversation, count),
    }
    return {name: search for name, search in found.items() if search is not None}


def run(folder: Path, budgets: list[int], encoding: str, relevance: str) -> dict[tuple[str, int], Tally]:
    """Ask every question of a folder at every budget."""
    tallies: dict[tuple[str, int], Tally] = {}
    count = make_counter(encoding)
    for conversation in read_folder(folder):
        contents = {turn.id: turn.content for turn in conversation.turns}
        asked = [question for question in conversation.questions if question.evidence]
        for name, search in systems(conversation, encoding, relevance).items():
            for budget in budgets:
                tally = tallies.setdefault((name, budget), Tally())
                for question in asked:
                    ask(question, search, budget, contents, count, tally)
    return tallies


def ask(
    question: Question, search: Search, budget: int, contents: dict[str, str], count: TokenCounter, tally: Tally
) -> None:
    start = time.perf_counter()
    text = search(question.text, budget)
    elapsed = (time.perf_counter() - start) * 1e3
    evidence = [grams(contents[turn]) for turn in question.evidence]
    tally.add(evidence, text, over=count(text) > budget, milliseconds=elapsed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--budgets", default="500,1000,2000,4000")
    parser.add_argument("--encoding", default="cl100k_base")
    parser.add_argument("--relevance", default="lexical")
    args = parser.parse_args()
    budgets = [int(budget) for budget in args.budgets.split(",")]
    table = Table("data", "budget", "system", "cover", "full", "any", "touch", "over", "ms")
    for folder in args.folders:
        tallies = run(folder, budgets, args.encoding, args.relevance)
        for (name, budget), tally in sorted(tallies.items(), key=lambda entry: entry[0][1]):
            table.add_row(folder.name, str(budget), name, *tally.figures())
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
