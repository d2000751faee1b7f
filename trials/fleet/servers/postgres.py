"""PostgreSQL: a primary and, if wanted, a standby that holds every committed row."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import psycopg

from tests.support.postgres import binaries
from trials.fleet.network import Network, Node
from trials.fleet.processes import Process, Processes, as_user
from trials.fleet.waiting import until

_USER = "modelway"
_OPTIONS = {
    "fsync": "off",
    "max_connections": "60",
    "shared_buffers": "16MB",
    "dynamic_shared_memory_type": "mmap",  # files of its own folder
}
_ACCESS = "host all all all trust\nhost replication all all trust\n"


class Postgres:
    """One server on its node."""

    def __init__(self, network: Network, node: Node, processes: Processes, folder: Path) -> None:
        self.node, self.port = node, network.port(node, 5432)
        self._processes, self._folder = processes, folder
        self._data = folder / "data"
        folder.mkdir()
        self._user = as_user("postgres", folder)

    def create(self) -> None:
        """Make an empty database cluster."""
        self._run("initdb", "-D", str(self._data), "-U", _USER, "-A", "trust", "--no-sync")
        (self._data / "pg_hba.conf").write_text(_ACCESS)

    def copy(self, primary: Postgres) -> None:
        """Become the standby of a primary that runs."""
        source = ["-h", primary.node.address, "-p", str(primary.port), "-U", _USER]
        self._run(
            "pg_basebackup", *source, "-D", str(self._data), "-R", "-X", "stream", "--no-sync"
        )
        with (self._data / "postgresql.auto.conf").open("a") as out:
            where = f"host={primary.node.address} port={primary.port} user={_USER}"
            out.write(f"primary_conninfo = '{where} application_name=standby'\n")

    def start(self) -> Process:
        """Start it (again), and wait until it answers."""
        settings = {
            **_OPTIONS,
            "listen_addresses": self.node.address,
            "unix_socket_directories": str(self._folder),
        }
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        words = [str(programs() / "postgres"), "-D", str(self._data), "-p", str(self.port)]
        self.process = self._processes.start(
            [*self.node.prefix, *self._user, *words, *options],
            self._folder,
            self._folder.parent / f"{self.node.name}.log",
        )
        self.process.end = self._end
        until(self.answers, f"{self.node.name} answers")
        return self.process

    def _end(self) -> None:
        """Let it remove its shared memory; if it was killed, remove that."""
        segment = _segment(self._data)
        if self.process.running:
            self.process.signal(signal.SIGQUIT)
            self.process.wait()
        elif segment:
            subprocess.run(["ipcrm", "-m", segment], check=False, capture_output=True)

    def connect(self) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(
            host=self.node.address,
            port=self.port,
            user=_USER,
            dbname="postgres",
            autocommit=True,
            connect_timeout=3,
        )

    def run(self, statement: str) -> list[tuple[object, ...]]:
        """The rows of one statement; none if it returns none."""
        with self.connect() as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def answers(self) -> bool:
        try:
            self.connect().close()
        except psycopg.OperationalError:
            return False
        return True

    def _run(self, program: str, *words: str) -> None:
        command = [*self.node.prefix, *self._user, str(programs() / program), *words]
        result = subprocess.run(
            command, cwd=self._folder, capture_output=True, text=True, check=False
        )
        if result.returncode:
            raise OSError(f"{program}: {result.stderr.strip()}")


class Pair:
    """A primary and its standby. A commit is answered when both have it, so that no committed row
    is lost with the primary."""

    def __init__(self, network: Network, processes: Processes, folder: Path) -> None:
        folder.mkdir(mode=0o755)
        self.primary = Postgres(network, network.node("pg1"), processes, folder / "pg1")
        self.primary.create()
        self.primary.start()
        self.standby = Postgres(network, network.node("pg2"), processes, folder / "pg2")
        self.standby.copy(self.primary)
        self.standby.start()
        self.primary.run("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
        self.primary.run("SELECT pg_reload_conf()")
        until(self._in_step, "the standby is in step")

    def promote(self) -> None:
        """Let the standby become the primary."""
        self.standby.run("ALTER SYSTEM SET synchronous_standby_names = ''")
        self.standby.run("SELECT pg_promote()")

    def _in_step(self) -> bool:
        return self.primary.run("SELECT sync_state FROM pg_stat_replication") == [("sync",)]


def url(servers: Sequence[Postgres]) -> str:
    """The URL of the database of whichever of the servers takes writes."""
    hosts = "&".join(f"host={s.node.address}:{s.port}" for s in servers)
    return f"postgresql+psycopg://{_USER}@/postgres?{hosts}&target_session_attrs=read-write"


def _segment(data: Path) -> str:
    """The id of the shared memory that holds the lock of a data folder; "" for none."""
    try:
        return (data / "postmaster.pid").read_text().splitlines()[6].split()[1]
    except (OSError, IndexError):
        return ""


def programs() -> Path:
    """The folder of PostgreSQL's programs. Raises OSError where it is not installed."""
    folder = binaries()
    if folder is None:
        raise OSError("PostgreSQL is not installed (Debian: postgresql)")
    return folder
