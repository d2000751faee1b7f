"""PgBouncer in transaction mode, in front of a PostgreSQL."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.ports import free_port
from tests.support.postgres import Postgres
from tests.support.waiting import Deadline

BINARY = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
WHY_NOT = "pgbouncer is not installed (apt-get install pgbouncer)"

_CONFIG = """
[databases]
* = host=127.0.0.1 port={server}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
"""


@contextmanager
def pgbouncer(postgres: Postgres, config: str = _CONFIG) -> Iterator[int]:
    """The port of a pooler with two connections for each database, or of one with that config, in
    which `{server}` and `{port}` are replaced."""
    assert BINARY is not None, WHY_NOT
    folder = Path(tempfile.mkdtemp(prefix="pgbouncer-"))
    port = free_port()
    file = folder / "pgbouncer.ini"
    # With `auth_type = any` every client is the user of the database line.
    file.write_text(config.format(server=f"{postgres.port} user=modelway", port=port))
    folder.chmod(0o755)
    record = ["-u", "nobody"] if os.geteuid() == 0 else []
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([BINARY, *record, file], stdout=log, stderr=log)
    try:
        _wait(port, process, folder / "log")
        yield port
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _wait(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = Deadline(20)
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 5).close()
        except OSError:
            assert process.poll() is None, log.read_text(errors="replace")
            assert not deadline.passed(), log.read_text(errors="replace")
            time.sleep(0.02)
        else:
            return
