"""A PostgreSQL server on a free port, in a temporary folder."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import psycopg
import pytest

from tests.support.ports import free_port
from tests.support.waiting import Deadline

_DEADLINE = 30.0


def binaries() -> Path | None:
    """The folder of PostgreSQL's programs, the newest of Debian's or what PATH has."""
    paths = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    path = str(paths[-1]) if paths else shutil.which("postgres")
    return Path(path).parent if path else None


class Postgres:
    """A server: `url` names its database `postgres`, `fresh()` makes an empty one.

    With a `primary` it is a standby that follows it, until it is promoted.
    """

    def __init__(self, programs: Path, folder: Path, primary: Postgres | None = None) -> None:
        self._programs = programs
        self._data = folder / "data"
        self._numbers = count(1)
        self._process: subprocess.Popen[bytes] | None = None
        self._record: dict[str, object] = {}
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            record = pwd.getpwnam("postgres")
            os.chown(folder, record.pw_uid, record.pw_gid)
            ids = {"user": record.pw_uid, "group": record.pw_gid, "extra_groups": []}
            self._record = {**ids, "cwd": folder}
        self.port = free_port()
        self._folder = folder
        if primary is None:
            self._make()
        else:
            self._copy(primary)
        self.start()

    @property
    def url(self) -> str:
        return self.named("postgres")

    def named(self, database: str, user: str = "modelway") -> str:
        return f"postgresql+psycopg://{user}@127.0.0.1:{self.port}/{database}"

    def fresh(self) -> str:
        """The URL of a new, empty database."""
        name = f"test{next(self._numbers)}"
        self.run(f'CREATE DATABASE "{name}"')
        return self.named(name)

    def emptied(self) -> str:
        """The URL of the database `postgres`, emptied: faster than a fresh database."""
        self.run("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        return self.url

    def dump(self, database: str) -> str:
        """The statements that make the tables of a database, with their rows; "" without pg_dump,
        which is a package of its own in some systems."""
        program = self._programs / "pg_dump"
        if not program.exists():
            return ""
        address = ["-h", "127.0.0.1", "-p", str(self.port), "-U", "modelway"]
        text = self._execute([program, *address, "--inserts", "--no-owner", database])
        return "\n".join(line for line in text.splitlines() if not line.startswith("\\"))

    def run(self, statement: str, database: str = "postgres") -> None:
        """Run one statement outside of any transaction, or some in one."""
        with self._connect(database) as connection:
            connection.execute(statement)  # type: ignore[arg-type]

    def promote(self) -> None:
        """Make a standby the primary."""
        self.run("SELECT pg_promote()")

    def commit_with_standby(self) -> None:
        """From now on a commit waits until the standby has it."""
        self.run("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.run("SELECT pg_reload_conf()")

    def use_tls(self, certificate: str, key: str) -> None:
        """From now on connections may be encrypted, with this certificate."""
        for name, path in (("server.crt", certificate), ("server.key", key)):
            file = self._data / name
            file.write_bytes(Path(path).read_bytes())
            file.chmod(0o600)
            os.chown(file, self._data.stat().st_uid, self._data.stat().st_gid)
        self.run("ALTER SYSTEM SET ssl = on")
        self.run("SELECT pg_reload_conf()")

    def start(self) -> None:
        """Start, and wait until it answers."""
        options = {
            "unix_socket_directories": str(self._folder),
            "listen_addresses": "127.0.0.1",
            "fsync": "off",
            "max_connections": "60",
            "shared_buffers": "16MB",
        }
        settings = [part for key, value in options.items() for part in ("-c", f"{key}={value}")]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._programs / "postgres", "-D", self._data, "-p", str(self.port), *settings],
                stdout=log,
                stderr=log,
                **self._record,  # type: ignore[arg-type]
            )
        deadline = Deadline(_DEADLINE)
        while True:
            try:
                self._connect("postgres").close()
            except psycopg.OperationalError:
                if deadline.passed() or self._process.poll() is not None:
                    log_text = (self._folder / "log").read_text("utf-8", "replace")
                    raise AssertionError(f"PostgreSQL does not start:\n{log_text}") from None
                time.sleep(0.05)
            else:
                return

    def kill(self) -> None:
        """Stop it immediately (SIGQUIT): connections are cut."""
        self._signal(signal.SIGQUIT)

    def stop(self) -> None:
        """Shut it down fast (SIGINT): connections are closed."""
        self._signal(signal.SIGINT)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop its processes (SIGSTOP): it accepts connections and answers nothing."""
        pids = self._pids()
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in pids:
                with suppress(ProcessLookupError):  # a backend that has ended
                    os.kill(pid, signal.SIGCONT)

    def _pids(self) -> list[int]:
        assert self._process is not None
        parent = self._process.pid
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text("ascii").split()
        return [parent, *map(int, children)]

    def _signal(self, number: int) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(_DEADLINE)
            self._process = None

    def _connect(self, database: str) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(
            host="127.0.0.1",
            port=self.port,
            user="modelway",
            dbname=database,
            autocommit=True,
            connect_timeout=5,
        )

    def _make(self) -> None:
        template = _template(self._programs)
        if template.exists():
            _copy_folder(template, self._data)
            return
        command = [self._programs / "initdb", "-D", self._data, "-U", "modelway", "-A", "trust"]
        self._execute([*command, "--no-sync", "-E", "UTF8", "--locale=C"])
        template.parent.mkdir(parents=True, exist_ok=True)
        own = template.with_name(f"{template.name}-{os.getpid()}")
        _copy_folder(self._data, own)
        try:
            own.rename(template)
        except OSError:  # another process has made it meanwhile
            shutil.rmtree(own)

    def _copy(self, primary: Postgres) -> None:
        address = ["-h", "127.0.0.1", "-p", str(primary.port), "-U", "modelway"]
        command = [self._programs / "pg_basebackup", "-D", self._data, *address]
        self._execute([*command, "-R", "-X", "stream", "-c", "fast", "--no-sync"])

    def _execute(self, command: list[Path | str]) -> str:
        process = subprocess.run(
            command,
            capture_output=True,
            **self._record,  # type: ignore[call-overload]
        )
        assert process.returncode == 0, process.stderr.decode()
        output: bytes = process.stdout
        return output.decode()


def _template(programs: Path) -> Path:
    """Where the folder that `initdb` makes is kept, in the user's cache: to copy it costs a
    fifteenth of the CPU time."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    version = subprocess.check_output([programs / "postgres", "--version"], text=True)
    return cache / "modelway" / "initdb" / version.strip().replace(" ", "-").replace("/", "-")


def _copy_folder(folder: Path, target: Path) -> None:
    """Copy a folder with its owner, who may be another user."""
    subprocess.run(["cp", "-a", folder, target], check=True)


@contextmanager
def running(primary: Postgres | None = None) -> Iterator[Postgres]:
    """A running server, or a standby of `primary`. Skips the test if PostgreSQL is missing."""
    programs = binaries()
    if programs is None:
        pytest.skip("PostgreSQL is not installed (Debian: postgresql)")
    folder = Path(tempfile.mkdtemp(prefix="modelway-pg-"))
    try:
        server = Postgres(programs, folder, primary)
        try:
            yield server
        finally:
            server.kill()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
