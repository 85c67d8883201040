"""A server that speaks MongoDB's protocol, from the wheel `secantusdb`: as a replica set, or standalone."""

from __future__ import annotations

import sys

import pymongo
from pymongo.errors import PyMongoError
from servers.process import ServerProcess


class MongoServer(ServerProcess):
    """A SecantusDB server.

    Args:
        standalone: Be no member of a replica set.
        options: Further options of its command line.
    """

    def __init__(self, *options: str, standalone: bool = False) -> None:
        super().__init__()
        self.options = [*options, *(["--standalone"] if standalone else [])]

    @property
    def url(self) -> str:
        return f"mongodb://127.0.0.1:{self.port}/"

    def command(self) -> list[str]:
        place = ["--host", "127.0.0.1", "--port", str(self.port), "--storage-path", str(self.folder / "data")]
        return [
            sys.executable,
            "-m",
            "secantus",
            *place,
            "--cache-size",
            "256M",
            "--log-level",
            "WARNING",
            *self.options,
        ]

    def answers(self) -> bool:
        try:
            with pymongo.MongoClient(self.url, serverSelectionTimeoutMS=500) as client:
                client.admin.command("ping")
        except PyMongoError:
            return False
        return True
