"""Turns session by session, so that neighbours in a conversation can lend each other weight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from llmslim_memory.ranking.pools import Floats, Ints

T = TypeVar("T", bound=np.generic)


class Chain:
    """The turns of a scope, one session after the other; a link is a place in the chain.

    ``sessions`` holds the session of each link. Where sessions do not overlap, a turn's link is its position.
    """

    def __init__(self, sessions: NDArray[np.int32]) -> None:
        self.sessions = sessions
        self._order: NDArray[np.int32] | None = None
        if bool((sessions[1:] >= sessions[:-1]).all()):
            return
        self._order = np.argsort(sessions, kind="stable").astype(np.int32)
        self._links = np.empty(len(sessions), dtype=np.int32)
        self._links[self._order] = np.arange(len(sessions), dtype=np.int32)
        self.sessions = sessions[self._order]

    @property
    def nbytes(self) -> int:
        """Bytes held beside the sessions that were given."""
        return 0 if self._order is None else 3 * self._order.nbytes

    def along(self, values: NDArray[T]) -> NDArray[T]:
        """Values of turns as values of links."""
        return values if self._order is None else values[self._order]

    def back(self, values: NDArray[T]) -> NDArray[T]:
        """Values of links as values of turns."""
        return values if self._order is None else values[self._links]

    def links(self, turns: Ints) -> Ints:
        """The links of turns."""
        return turns if self._order is None else self._links[turns].astype(np.int64)

    def smooth(self, values: Floats, shares: Sequence[float]) -> Floats:
        """Add to each link's value a share of its neighbours': the first share of those next to it, and so on."""
        out = values.copy()
        for distance, share in enumerate(shares, 1):
            if len(values) <= distance:
                break
            given = share * (self.sessions[distance:] == self.sessions[:-distance])
            out[distance:] += given * values[:-distance]
            out[:-distance] += given * values[distance:]
        return out

    def gather(self, groups: Ints, links: Ints, values: Floats, radius: int) -> tuple[Ints, Ints, Floats]:
        """Sum values over the stretches of ``radius`` turns to both sides of each link, within its session.

        Args:
            groups: Ascending; what belongs to different ones is added up apart.
            links: Where the values are, each link at most once a group.
            values: What is added up, whole numbers above 0.
            radius: How far a stretch reaches.

        Returns:
            The groups, the links whose stretch holds a value of the group, ascending, and the sums.
        """
        size = len(self.sessions)
        to = links[:, None] + np.arange(-radius, radius + 1)
        near = np.minimum(np.maximum(to, 0), size - 1)  # np.clip takes several times as long on few links
        same = (near == to) & (self.sessions[near] == self.sessions[links][:, None])
        spread = np.broadcast_to(values[:, None], to.shape)
        sums = np.bincount((groups[:, None] * size + to)[same], spread[same]).astype(np.float64)
        touched = np.flatnonzero(sums > 0)
        return touched // max(size, 1), touched % max(size, 1), sums[touched]
