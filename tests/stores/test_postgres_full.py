"""A PostgreSQL server whose disk is full says so, keeps what it acknowledged, and goes on when there is room."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import mkdtemp

import psycopg
import pytest
from servers.process import UNPRIVILEGED
from stores.samples import ASHA, ids, turn

from llmslim_memory.errors import StoreFullError
from llmslim_memory.stores.postgres import PostgresStore

TABLE = "on_a_tiny_disk"


@dataclass(frozen=True)
class TinyDisk:
    """A file system of a few megabytes that holds one tablespace."""

    folder: Path
    url: str

    def enlarge(self) -> None:
        subprocess.run(["mount", "-o", "remount,size=64m", self.folder], check=True, capture_output=True)


@pytest.fixture
def disk(own_postgres_url: str) -> Iterator[TinyDisk]:
    # Not in pytest's folder, which the server's account may not enter.
    folder = Path(mkdtemp(prefix="llmslim-tiny-"))
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", folder], check=False, capture_output=True
    )
    if mounted.returncode:
        folder.rmdir()
        pytest.skip("only root may mount a small file system")
    try:
        shutil.chown(folder, UNPRIVILEGED)
        with psycopg.connect(own_postgres_url, autocommit=True) as admin:
            admin.execute(f"CREATE TABLESPACE tiny LOCATION '{folder}'".encode())
            yield TinyDisk(folder, f"{own_postgres_url}?options=-c%20default_tablespace%3Dtiny")
            for suffix in ("", "_meta", "_deleted", "_records"):
                admin.execute(f"DROP TABLE IF EXISTS {TABLE}{suffix} CASCADE".encode())
            admin.execute(b"DROP TABLESPACE tiny")
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True, capture_output=True)
        folder.rmdir()


def add_until_refused(store: PostgresStore, acknowledged: list[str]) -> None:
    noise = Random(0)
    for number in range(40):
        store.add([turn(f"{number}", number, content=noise.randbytes(150_000).hex())])
        acknowledged.append(f"{number}")


def test_a_full_disk_says_so_and_loses_nothing_acknowledged(disk: TinyDisk) -> None:
    acknowledged: list[str] = []
    with PostgresStore(disk.url, table=TABLE) as store:
        with pytest.raises(StoreFullError, match=r"disk is full.*make room") as caught:
            add_until_refused(store, acknowledged)
        assert str(disk.folder) not in str(caught.value)
        assert acknowledged
        assert ids(store.list(ASHA)) == acknowledged
        disk.enlarge()
        store.add([turn("after", 100)])
        assert ids(store.list(ASHA)) == [*acknowledged, "after"]
