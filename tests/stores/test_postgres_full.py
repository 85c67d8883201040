"""A PostgreSQL server whose disk is full says so, keeps what it acknowledged, and goes on when there is room.

A trigger of the table raises the error that a full disk raises; where a small file system may be mounted, as by root,
the disk is full for real as well.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
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


def mount(folder: Path, options: str) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def unmount(folder: Path) -> None:
    subprocess.run(["umount", "--lazy", folder], check=True, capture_output=True)


def may_mount(folder: Path) -> bool:
    """Whether a small file system can be had here."""
    if not shutil.which("mount") or not mount(folder, "size=4m"):
        return False
    unmount(folder)
    return True


@contextmanager
def tiny_folder() -> Iterator[Path]:
    folder = Path(mkdtemp(prefix="llmslim-tiny-"))  # not in pytest's, which the server's account may not enter
    try:
        yield folder
    finally:
        folder.rmdir()


class Trigger:
    """Refuses rows beyond the tenth as a full disk would."""

    def __init__(self, url: str) -> None:
        self.url = url

    def fill(self) -> None:
        self._run(
            f"""CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF (SELECT count(*) FROM {TABLE}) >= 10 THEN RAISE disk_full; END IF; RETURN NEW; END $$;
                CREATE TRIGGER refuse BEFORE INSERT ON {TABLE} FOR EACH ROW EXECUTE FUNCTION refuse()"""
        )

    def enlarge(self) -> None:
        self._run("DROP FUNCTION refuse CASCADE")

    def _run(self, statements: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as admin:
            admin.execute(statements.encode())


class TinyDisk:
    """A file system of four megabytes that holds one tablespace."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.url = f"{url}?options=-c%20default_tablespace%3Dtiny"

    def fill(self) -> None:
        """It is small from the beginning."""

    def enlarge(self) -> None:
        assert mount(self.folder, "remount,size=64m")


def drop_tables(admin: psycopg.Connection) -> None:
    for suffix in ("", "_meta", "_deleted", "_records"):
        admin.execute(f"DROP TABLE IF EXISTS {TABLE}{suffix} CASCADE".encode())


@contextmanager
def tiny_disk(url: str) -> Iterator[TinyDisk]:
    with tiny_folder() as folder:
        assert mount(folder, "size=4m")
        try:
            shutil.chown(folder, UNPRIVILEGED)
            with psycopg.connect(url, autocommit=True) as admin:
                admin.execute(f"CREATE TABLESPACE tiny LOCATION '{folder}'".encode())
                yield TinyDisk(folder, url)
                drop_tables(admin)
                admin.execute(b"DROP TABLESPACE tiny")
        finally:
            unmount(folder)


@contextmanager
def trigger(url: str) -> Iterator[Trigger]:
    yield Trigger(url)
    with psycopg.connect(url, autocommit=True) as admin:
        drop_tables(admin)


with tiny_folder() as probed:
    DISKS = [trigger, tiny_disk] if may_mount(probed) else [trigger]


@pytest.fixture(params=DISKS)
def disk(request: pytest.FixtureRequest, own_postgres_url: str) -> Iterator[Trigger | TinyDisk]:
    with request.param(own_postgres_url) as disk:
        yield disk


def add_until_refused(store: PostgresStore, acknowledged: list[str]) -> None:
    noise = Random(0)
    for number in range(40):
        store.add([turn(f"{number}", number, content=noise.randbytes(150_000).hex())])
        acknowledged.append(f"{number}")


def test_a_full_disk_says_so_and_loses_nothing_acknowledged(disk: Trigger | TinyDisk) -> None:
    acknowledged: list[str] = []
    with PostgresStore(disk.url, table=TABLE) as store:
        disk.fill()
        with pytest.raises(StoreFullError, match=r"disk is full.*make room") as caught:
            add_until_refused(store, acknowledged)
        assert "tiny" not in str(caught.value)
        assert acknowledged
        assert ids(store.list(ASHA)) == acknowledged
        disk.enlarge()
        store.add([turn("after", 100)])
        assert ids(store.list(ASHA)) == [*acknowledged, "after"]
