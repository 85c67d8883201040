"""Picks turns and parts of replies for a question: best first, with room reserved for the user's own turns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from llmslim_memory.selection.contents import Contents
from llmslim_memory.selection.duplicates import Seen
from llmslim_memory.selection.exchanges import SHARE, Exchange
from llmslim_memory.selection.packing import GAP_TOKENS, Packer, Verdict
from llmslim_memory.views import Candidate, Ranking

USER_SHARE = 0.15
"""The part of the room that replies cannot take while user turns want it."""
USER_TURN_CAP = 0.4
"""The most of the room that one user turn may take whole; a longer one is clipped."""
ASKED_SHARE = 0.08
"""The part of the room for what a standing request wants in the answer."""
FETCHED = 3
BATCH = 24
"""So many candidates' turns are read at once."""
LEAST_ROOM = 8
WORTH_FILLING = 24
"""Less room than this is not worth counting the text again for."""
TRIED_AT_LEAST = 80
MISSES = 40
"""After so many passages in a row that did not fit, the rest are not tried."""

Ranked = tuple[str, int, Candidate]
"""A candidate with its pool and its rank there."""


@dataclass(slots=True)
class TurnPicker:
    """Fills a packer from the two pools of a ranking, whose scores are on one scale."""

    contents: Contents
    packer: Packer
    left_out: Mapping[int, str]
    seen: Seen = field(default_factory=Seen)
    user_room: int = 0
    user_turn_cap: int = 0
    verdicts: dict[tuple[str, int, int], Verdict] = field(default_factory=dict)

    def pick(
        self,
        ranking: Ranking,
        newer: Sequence[int] = (),
        exchanges: Sequence[Exchange] = (),
        asked: Ranking | None = None,
    ) -> None:
        """Keep the best of both pools, replies outside the room of user turns; then whatever still fits.

        The turns ``newer`` change what the best one says, and come right after it. Of ``exchanges`` the replies are
        kept whole. ``asked`` ranks the history for what a standing request wants in the answer; a little room is kept
        for the best of it.
        """
        room = self.packer.room
        self.user_room, self.user_turn_cap = int(room * USER_SHARE), int(room * USER_TURN_CAP)
        self._update(ranking, newer)
        self._keep_exchanges(ranking, exchanges, int(room * SHARE))
        ranked = Queue(ranking, TRIED_AT_LEAST + room // LEAST_ROOM)
        aside = int(room * ASKED_SHARE) if asked is not None and asked.matched else 0
        self.packer.room -= aside
        self._fill(ranked, ranking, room - self.user_room - aside)
        self.packer.room += aside
        if asked is not None and aside:
            self._fill(Queue(asked, FETCHED), asked, aside)
        self._fill(ranked, ranking, room)

    def _update(self, ranking: Ranking, newer: Sequence[int]) -> None:
        """Keep the best user turn, then the turns that change what it says."""
        if not newer:
            return
        turns = (ranking.user[0].turn, *newer)
        ranked = ((rank, one) for rank, one in enumerate(ranking.user, start=1) if one.turn in turns)
        ranks = {one.turn: (rank, one) for rank, one in islice(ranked, len(turns))}
        for turn in turns:
            rank, candidate = ranks.get(turn, (None, self._whole(turn)))
            verdict = self._weigh("user", candidate, ranking, rank, self.packer.room)
            if verdict is not None:
                self.verdicts["user", turn, candidate.part] = verdict

    def _keep_exchanges(self, ranking: Ranking, exchanges: Sequence[Exchange], reply_room: int) -> None:
        """Keep the replies that fit whole, each after the user turn that it answers."""
        if not exchanges:
            return
        ranks = {("user", one.turn, one.part): rank for rank, one in enumerate(ranking.user, start=1)}
        ranks |= {("reply", one.turn, one.part): rank for rank, one in enumerate(ranking.reply, start=1)}
        for asked, reply in exchanges:
            self._keep_ranked("user", asked, ranking, ranks)
            windows, room = ranking.windows(reply), min(reply_room, self.packer.room)
            size = self._size(windows)
            if reply in self.left_out or not self.packer.takes(windows[0], room) or size > room:
                continue
            reply_room -= size
            for window in windows:
                self._keep_ranked("reply", window, ranking, ranks)

    def _keep_ranked(
        self, pool: str, one: Candidate, ranking: Ranking, ranks: Mapping[tuple[str, int, int], int]
    ) -> None:
        key = pool, one.turn, one.part
        if key not in self.verdicts:
            verdict = self._weigh(pool, one, ranking, ranks.get(key), self.packer.room)
            if verdict is not None:
                self.verdicts[key] = verdict

    def _size(self, windows: Sequence[Candidate]) -> int:
        """What all passages of a turn take together."""
        return self.packer.cost(windows[0]) + sum(one.tokens + GAP_TOKENS for one in windows[1:])

    def _whole(self, turn: int) -> Candidate:
        content, tokens = self.contents.item(turn).content, int(self.contents.history.tokens[turn])
        return Candidate(turn, 0, 0, len(content), "turn", 0.0, tokens)

    def keep_best(self, ranking: Ranking) -> None:
        """Keep the best passage although there is no room for it: a part of it is better than nothing."""
        for pool, rank, candidate in _merged(ranking):
            if candidate.turn not in self.left_out:
                self.packer.keep(candidate)
                self.verdicts[pool, candidate.turn, candidate.part] = Verdict(candidate, pool, rank, "kept")
                return

    def refill(self, ranking: Ranking, room: int) -> bool:
        """Use the room that the text, once counted, turned out to leave; say whether more was kept."""
        kept, self.packer.room = len(self.packer.order), room
        if kept and room >= WORTH_FILLING:
            self._fill(Queue(ranking, TRIED_AT_LEAST + room // LEAST_ROOM), ranking, room)
        return len(self.packer.order) > kept

    def _fill(self, ranked: Queue, ranking: Ranking, reply_room: int) -> None:
        misses = 0
        for index, (pool, rank, candidate) in enumerate(ranked):
            if self.packer.room < LEAST_ROOM or misses > MISSES:
                break
            if index % BATCH == 0:
                self._read_ahead(ranked.some(index, BATCH), reply_room)
            if (pool, candidate.turn, candidate.part) in self.verdicts:
                continue
            room = self.packer.room if pool == "user" else min(self.packer.room, reply_room)
            before = self.packer.room
            verdict = self._weigh(pool, candidate, ranking, rank, room)
            if verdict is None:
                misses += 1
                continue
            misses = 0
            self.verdicts[pool, candidate.turn, candidate.part] = verdict
            if pool == "reply":
                reply_room -= before - self.packer.room

    def _read_ahead(self, some: Sequence[Ranked], reply_room: int) -> None:
        """Fetch those of the next candidates that there is room for as yet."""
        rooms = {"user": self.packer.room, "reply": min(self.packer.room, reply_room)}
        self.contents.load(
            one.turn for pool, _, one in some if one.tokens <= rooms[pool] and one.turn not in self.left_out
        )

    def _weigh(self, pool: str, candidate: Candidate, ranking: Ranking, rank: int | None, room: int) -> Verdict | None:
        """What becomes of a candidate; ``None`` if it found no room, so that it may be tried again."""
        if candidate.turn in self.left_out:
            return Verdict(candidate, pool, rank, "dropped", self.left_out[candidate.turn])
        if pool == "user" and candidate.tokens > self.user_turn_cap:
            return self._clip(candidate, ranking, rank, min(room, self.user_turn_cap))
        if not self.packer.takes(candidate, room):
            return None
        if not self.seen.add(self.contents.text(candidate), candidate.turn if pool == "user" else None):
            return self._repeated(pool, candidate, rank)
        self.packer.keep(candidate)
        return Verdict(candidate, pool, rank, "kept")

    def _repeated(self, pool: str, candidate: Candidate, rank: int | None) -> Verdict:
        """Of user turns that say the same the latest is kept: what was said in between does not come after it."""
        older = self.seen.renew(self.contents.text(candidate), candidate.turn) if pool == "user" else None
        if older is None or not self.packer.swap(older, candidate):
            return Verdict(candidate, pool, rank, "dropped", "duplicate")
        for key, verdict in self.verdicts.items():
            if key[:2] == ("user", older):
                self.verdicts[key] = replace(verdict, status="dropped", reason="duplicate")
        return Verdict(candidate, pool, rank, "kept")

    def _clip(self, candidate: Candidate, ranking: Ranking, rank: int | None, room: int) -> Verdict | None:
        """Keep the best parts of a turn that is too long to be kept whole."""
        passages = self.contents.history.passages(candidate.turn)
        if min(passage.tokens for passage in passages) > room:  # telling that takes far less time than to rank them
            return None
        left, kept = room, False
        for window in ranking.windows(candidate.turn):
            if self.packer.takes(window, left):
                left, kept = left - self.packer.cost(window), True
                self.packer.keep(window)
            if left < LEAST_ROOM + GAP_TOKENS:
                break
        return Verdict(candidate, "user", rank, "clipped", "turn_cap") if kept else None


class Queue:
    """The best candidates of both pools, best first, made as they are reached and once however often they are tried."""

    def __init__(self, ranking: Ranking, most: int) -> None:
        self._coming = islice(_merged(ranking), most)
        self._made: list[Ranked] = []

    def some(self, start: int, size: int) -> Sequence[Ranked]:
        """The candidates from place ``start`` on, at most ``size`` of them."""
        self._made += islice(self._coming, max(0, start + size - len(self._made)))
        return self._made[start : start + size]

    def __iter__(self) -> Iterator[Ranked]:
        start = 0
        while some := self.some(start, BATCH):
            yield from some
            start += len(some)


def _merged(ranking: Ranking) -> Iterator[Ranked]:
    """The candidates of both pools, best first; a user turn before a reply of the same score."""
    replies = enumerate(ranking.reply, start=1)
    place, reply = next(replies, (0, None))
    for rank, user in enumerate(ranking.user, start=1):
        while reply is not None and reply.score > user.score:
            yield "reply", place, reply
            place, reply = next(replies, (0, None))
        yield "user", rank, user
    while reply is not None:
        yield "reply", place, reply
        place, reply = next(replies, (0, None))
