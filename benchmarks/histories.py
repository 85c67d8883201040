"""Histories to measure with: read from a folder of conversations, lengthened by varying them, or generated."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path

from llmslim_memory import MemoryItem

START = datetime(2020, 1, 1, tzinfo=UTC)
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its kind, and the ids of the turns that hold the answer."""

    text: str
    kind: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A history and questions about it."""

    name: str
    turns: list[MemoryItem]
    questions: list[Question]


def read_folder(folder: Path) -> Iterator[Conversation]:
    """Read ``*.turns.jsonl`` and ``*.questions.json`` (see ``docs/benchmarks.md`` for the layout)."""
    for path in sorted(folder.glob("*.turns.jsonl")):
        records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        turns = [
            MemoryItem(
                id=str(record["id"]),
                role=record["role"],
                content=record["content"],
                created_at=datetime.fromisoformat(record["timestamp"]).astimezone(UTC),
                seq=number,
                user_id=record["user_id"],
                run_id=record["session_id"],
            )
            for number, record in enumerate(records)
        ]
        asked = json.loads(path.with_name(path.name.replace(".turns.jsonl", ".questions.json")).read_text("utf-8"))
        questions = [Question(q["question"], q["kind"], tuple(map(str, q["evidence"]))) for q in asked]
        yield Conversation(path.name.removesuffix(".turns.jsonl"), turns, questions)


class Vocabulary:
    """Made-up words that are used as unevenly as those of a language (Zipf's law)."""

    def __init__(self, rng: random.Random, size: int = 30_000) -> None:
        sounds = [a + b for a in "bcdfghjklmnprstvwz" for b in "aeiou"]
        self.words = list(dict.fromkeys("".join(rng.choices(sounds, k=rng.randint(2, 4))) for _ in range(size)))
        self._rng = rng
        self._weights = list(accumulate(1 / rank for rank in range(1, len(self.words) + 1)))

    def sentence(self, length: int) -> str:
        """A sentence of so many words."""
        words = self._rng.choices(self.words, cum_weights=self._weights, k=length)
        return " ".join(words).capitalize() + "."


def generated(tokens: int, seed: int = 1) -> Iterator[MemoryItem]:
    """Turns of about so many tokens together: short ones of the user, long replies, a session every 20 turns."""
    rng = random.Random(seed)
    vocabulary = Vocabulary(rng)
    number = spent = 0
    while spent < tokens:
        sentences = rng.randint(1, 4) if number % 2 == 0 else rng.randint(8, 30)
        content = " ".join(vocabulary.sentence(rng.randint(6, 18)) for _ in range(sentences))
        yield _turn(number, content)
        spent += len(content) // 4
        number += 1


def varied(folder: Path, tokens: int, seed: int = 1) -> Iterator[MemoryItem]:
    """The turns of a folder, again and again until there are enough, a tenth of the longer words changed each time."""
    rng = random.Random(seed)
    contents = [turn.content for conversation in read_folder(folder) for turn in conversation.turns]
    words = sorted({word for content in contents for word in WORD.findall(content) if len(word) > 4})
    number = spent = 0

    def change(match: re.Match[str]) -> str:
        word = match.group()
        return rng.choice(words) if len(word) > 4 and rng.random() < 0.1 else word

    while spent < tokens:
        content = contents[number % len(contents)]
        if number >= len(contents):
            content = WORD.sub(change, content)
        yield _turn(number, content)
        spent += len(content) // 4
        number += 1


def questions_about(turns: list[MemoryItem], count: int, seed: int = 2) -> list[str]:
    """Questions of six of the longer words of a turn each."""
    rng = random.Random(seed)
    found = []
    for turn in rng.sample(turns, min(count, len(turns))):
        words = [word for word in WORD.findall(turn.content) if len(word) > 4]
        found.append("What about " + " ".join(rng.sample(words, min(6, len(words)))) + "?")
    return found


def as_message(turn: MemoryItem) -> dict[str, object]:
    """A turn as what `Memory.add` takes."""
    return {"role": turn.role, "content": turn.content, "timestamp": turn.created_at}


def _turn(number: int, content: str) -> MemoryItem:
    return MemoryItem(
        id=f"t{number}",
        role="assistant" if number % 2 else "user",
        content=content,
        created_at=START + timedelta(minutes=10 * number),
        seq=number,
        user_id="user",
        run_id=f"run{number // 20}",
    )
