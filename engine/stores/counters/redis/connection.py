"""Commands on connections to a Redis server, and the detection of lost data.

redis-py makes the connections, finds the master of Sentinels, and parses the protocol with hiredis.
Its clients are not used for commands: a take costs 38 us of CPU here and 97 with `redis.Redis`,
whose pool polls the socket before each command, 48 and 163 with `redis.RedisCluster`
(`benchmarks/redis_clients.py`). Their retries do not know which commands may be sent twice, and
they close a connection whose answer is late, but a late take has to be reverted.

A random id is stored with the data; a different id means that the data was lost. The workers of a
machine share the id in a file, so that a worker that starts later also detects a loss. Times are of
the monotonic clock, which all processes of a machine share.
"""

from __future__ import annotations

import logging
import math
import os
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import hiredis
import msgspec
import orjson
from redis.exceptions import NoScriptError

from engine.stores.counters.redis.address import Connection
from engine.stores.counters.redis.deadlines import Late
from engine.stores.counters.redis.scripts import DATASET_ID, SCRIPTS

log = logging.getLogger("modelway")

Command = tuple[str | int, ...]
Answer = Any
"""What a server answers: a number, bytes, or a list of answers, by the command."""

_DATASET = msgspec.json.Decoder(tuple[str, float | None])
"""What is stored of the data: its id, and when it was last found to be lost."""


def exchange(connection: Connection, command: Command, *, asking: bool = False) -> Answer:
    """Send a command, and return its answer. Raises Late after the timeout. `asking`: the slot of
    the keys is being moved to this node (Redis Cluster specification, ASK redirection)."""
    _write(connection, command, asking)
    try:
        return _read_in_time(connection, asking)
    except NoScriptError:  # EVAL makes the server store the script
        _write(connection, ("EVAL", SCRIPTS[str(command[1])].source, *command[2:]), asking)
        return _read_in_time(connection, asking)


def read(connection: Connection) -> Answer:
    """The next answer. An error leaves the connection open."""
    return connection.read_response(disconnect_on_error=False)


def _write(connection: Connection, command: Command, asking: bool) -> None:
    packed = hiredis.pack_command(command)  # type: ignore[arg-type]
    if asking:
        packed = hiredis.pack_command(("ASKING",)) + packed
    connection.send_packed_command([packed], check_health=False)


def _read_in_time(connection: Connection, asking: bool) -> Answer:
    try:
        if asking:
            read(connection)
        return read(connection)
    except Late:
        # The answer may have arrived in time while this process was busy.
        if asking or not connection.can_read(0):
            raise
        return connection.read_response(timeout=0.001)


def dataset_command(tag: str) -> Command:
    """The command that reads the id of the data in the slot of a hash tag, for `Dataset.update`."""
    return ("EVAL", DATASET_ID, 1, f"{tag}:mark", os.urandom(8).hex())


class Dataset:
    """The last known id of the data called `name`, shared in `folder`; only in this process without
    a folder. `lost_at` is when a loss was last detected."""

    def __init__(self, name: str, folder: Path | None) -> None:
        file = f"redis-{sha256(name.encode()).hexdigest()[:16]}.json"
        self._name, self._file = name, folder and folder / file
        self._id = ""
        self._is_stored = True
        self.lost_at = -math.inf
        if self._file is not None and self._file.exists():
            self._load(self._file)

    def update(self, answer: bytes) -> bool:
        """Record the current id of the data. Returns whether data was lost.

        If the id cannot be stored, as in a full folder, a later call stores it.
        """
        id_ = answer.decode()
        is_lost = self._id not in ("", id_)
        if is_lost:
            self.lost_at = time.monotonic()
        if id_ != self._id or not self._is_stored:
            self._id = id_
            self._store()
        return is_lost

    def _load(self, file: Path) -> None:
        """Take over what another worker stored. A file that cannot be read, as one that a crash of
        the machine cut off, is as none."""
        try:
            stored = _DATASET.decode(file.read_bytes())
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
            log.warning(
                "counters: %s: cannot read %s: %s; whether counters were lost since it was "
                "written is not known",
                *(self._name, file, error),
            )
            return
        self._id, lost_at = stored
        if lost_at is not None and lost_at < time.monotonic():  # else from before a reboot
            self.lost_at = lost_at

    def _store(self) -> None:
        if self._file is None:
            return
        new_file = self._file.with_suffix(f".{os.getpid()}")
        try:
            new_file.write_bytes(
                orjson.dumps([self._id, None if self.lost_at < 0 else self.lost_at])
            )
            new_file.replace(self._file)
            self._is_stored = True
        except OSError as error:
            if self._is_stored:
                log.warning(
                    "counters: %s: cannot write %s: %s; a worker that starts from now on may not "
                    "notice that counters were lost",
                    *(self._name, self._file, error.strerror),
                )
            self._is_stored = False
            with suppress(OSError):
                new_file.unlink(missing_ok=True)
