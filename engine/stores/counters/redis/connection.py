"""Connections to a Redis server, and whether it still has the data that it had.

redis-py makes the connections, and parses the protocol with hiredis. Its pool is not used: before
each command `get_connection` polls the socket through gevent's loop, which costs 40 us of CPU where
a complete take costs 70 (`benchmarks/counters.py`).

A random id is stored with the data, and another id means other data. The workers of a machine share
the id in a file, so that a worker which starts later also knows of a loss. Times are of the
monotonic clock, which all processes of a machine share.
"""

from __future__ import annotations

import math
import os
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import hiredis
import orjson
import redis
from gevent import monkey
from redis.backoff import NoBackoff
from redis.exceptions import NoScriptError
from redis.retry import Retry

from engine.stores.counters.redis.deadlines import Late
from engine.stores.counters.redis.scripts import DATASET_ID, DATASET_KEY, SCRIPTS

_SCHEMES = ("redis://", "rediss://", "unix://")

Command = tuple[str | int, ...]


class RedisServer:
    """The server at `url`. `name` is its address for messages, without the password. ValueError for
    another URL."""

    def __init__(self, url: str, timeout: float) -> None:
        try:
            if not url.startswith(_SCHEMES):
                raise ValueError
            # Late bounds a call, except in processes without gevent's monkey patches.
            blocking = None if monkey.is_module_patched("socket") else timeout
            self._source = redis.ConnectionPool.from_url(
                url,
                protocol=2,
                retry=Retry(NoBackoff(), 0),
                socket_timeout=blocking,
                socket_connect_timeout=blocking,
            )
            sample = self.new_connection()
        except (ValueError, TypeError):  # its message may contain the password
            raise ValueError(
                "counters: expected redis://[[user]:password@]host[:port][/db], rediss://... or "
                "unix:///path/to/socket; special characters of a password are percent-encoded"
            ) from None
        address = getattr(sample, "path", None) or f"{sample.host}:{sample.port}"
        self.name = f"redis at {address}"

    def new_connection(self) -> Any:
        """A connection of redis-py, for `connect`."""
        return self._source.connection_class(**self._source.connection_kwargs)


def connect(connection: Any) -> str:
    """Connect, and return the id of the server's data."""
    connection.connect()
    new_id = os.urandom(8).hex()
    _write(connection, ("EVAL", DATASET_ID, 1, DATASET_KEY, new_id))
    return str(read(connection).decode())


def exchange(connection: Any, command: Command) -> Any:
    """Send a command, and return its answer; raises Late when that comes late."""
    _write(connection, command)
    try:
        return _read_in_time(connection)
    except NoScriptError:  # EVAL makes the server store the script
        _write(connection, ("EVAL", SCRIPTS[str(command[1])].source, *command[2:]))
        return _read_in_time(connection)


def read(connection: Any) -> Any:
    """The next answer. An error leaves the connection open."""
    return connection.read_response(disconnect_on_error=False)


def _write(connection: Any, command: Command) -> None:
    packed = hiredis.pack_command(command)  # type: ignore[arg-type]
    connection.send_packed_command([packed], check_health=False)


def _read_in_time(connection: Any) -> Any:
    try:
        return read(connection)
    except Late:
        # The answer may have arrived in time while this process was busy.
        if not connection.can_read(0):
            raise
        return connection.read_response(timeout=0.001)


class Dataset:
    """The last known id of the data at `server`, shared in `folder`; without a folder, of this
    process alone. `lost_at` is when the server was last found with other data."""

    def __init__(self, server: str, folder: Path | None) -> None:
        name = f"redis-{sha256(server.encode()).hexdigest()[:16]}.json"
        self._file = folder and folder / name
        self._id = ""
        self.lost_at = -math.inf
        if self._file is not None and self._file.exists():
            self._id, lost_at = orjson.loads(self._file.read_bytes())
            if lost_at is not None and lost_at < time.monotonic():  # else from before a reboot
                self.lost_at = lost_at

    def update(self, id_: str) -> bool:
        """Note the id that the server has now. Returns whether it has lost its data."""
        if id_ == self._id:
            return False
        is_lost = self._id != ""
        self._id = id_
        if is_lost:
            self.lost_at = time.monotonic()
        if self._file is not None:
            new_file = self._file.with_suffix(f".{os.getpid()}")
            new_file.write_bytes(orjson.dumps([id_, self.lost_at if is_lost else None]))
            new_file.replace(self._file)
        return is_lost
