"""The way to a Redis server: a few connections, a time limit, and a rest after a failure.

Everything a call does, from connecting to the last byte of the answer, has one time limit. After a
failure all calls fail at once, and one a second tries again; the first that succeeds ends that.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Any

import gevent
import hiredis
import redis
from gevent import monkey
from gevent.lock import BoundedSemaphore
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as Broken
from redis.exceptions import NoScriptError, RedisError
from redis.retry import Retry

from engine.stores.counters import CountersAway
from engine.stores.counters.redis_scripts import SCRIPTS

log = logging.getLogger("modelway")

REST = 1.0
UNHURRIED = 1.0
"""Seconds for what no request waits for: a busy worker need not be in time with that."""

CONNECTIONS = 50
_SCHEMES = ("redis://", "rediss://", "unix://")

Command = tuple[str | int, ...]


class Unsent(CountersAway):
    """The server cannot be reached, and was told nothing of this call."""


class Link:
    """Connections of one process to the server at `url`, with `limit` seconds for every call.

    ValueError for what is no such URL.
    """

    def __init__(self, url: str, limit: float) -> None:
        try:
            if not url.startswith(_SCHEMES):
                raise ValueError
            # A timer of gevent's guards a call; this is for processes in which it has no say.
            patience = None if monkey.is_module_patched("socket") else limit
            self._pool = redis.ConnectionPool.from_url(
                url,
                protocol=2,
                retry=Retry(NoBackoff(), 0),
                socket_timeout=patience,
                socket_connect_timeout=patience,
            )
            made: Any = self._pool.make_connection()
        except (ValueError, TypeError):  # its words may hold the password
            raise ValueError(
                "counters: expected redis://[[user]:password@]host[:port][/db], rediss://... or "
                "unix:///path/to/socket; special characters of a password are percent-encoded"
            ) from None
        self.place = f"redis at {getattr(made, 'path', None) or f'{made.host}:{made.port}'}"
        self._limit = limit
        self._idle: list[Any] = []
        self._free = BoundedSemaphore(CONNECTIONS)
        self._away = False
        self._try_at = 0.0

    def call(self, command: Command, *, again: bool = True, limit: float = 0.0) -> Any:
        """The answer to a command, within `limit` seconds where those are more than the link's.

        With `again` it may be sent once more, over a new connection, when an old one turns out to
        be broken. Raises Unsent when it was not sent, CountersAway when it may have been.
        """
        sent: list[bool] = []
        limit = max(limit, self._limit)
        self._rest()
        timer = gevent.Timeout.start_new(limit)
        try:
            with self._free:
                answer = self._asked(command, timer, again, sent)
        except gevent.Timeout as late:
            if late is not timer:
                raise
            raise self._failed(f"no answer within {limit:g} s", sent) from late
        except (RedisError, OSError) as error:
            raise self._failed(str(error) or type(error).__name__, sent) from error
        finally:
            timer.close()
        if self._away:
            self._away = False
            log.warning("counters: %s is back", self.place)
        return answer

    def close(self) -> None:
        """Let go of the connections; a later call makes new ones."""
        while self._idle:
            self._idle.pop().disconnect()

    def _rest(self) -> None:
        """Raises Unsent as long as the server is left alone."""
        if self._away:
            now = time.monotonic()
            if now < self._try_at:
                raise Unsent(f"{self.place} is away")
            self._try_at = now + REST

    def _asked(self, command: Command, timer: gevent.Timeout, again: bool, sent: list[bool]) -> Any:
        connection = self._idle.pop() if self._idle else None
        if connection is not None:
            try:
                if not again:
                    connection.can_read(0)  # says so when the server has closed it
                    sent.append(True)
                return self._ask(connection, command, timer)
            except Broken:
                if sent:
                    raise
                self.close()  # the server was started anew: the others are as old
        connection = self._made()
        try:
            connection.connect()
        except BaseException:
            connection.disconnect()
            raise
        sent.append(True)
        return self._ask(connection, command, timer)

    def _made(self) -> Any:
        return self._pool.make_connection()

    def _ask(self, connection: Any, command: Command, timer: gevent.Timeout) -> Any:
        try:
            answer = _answer(connection, timer, command)
        except BaseException:  # also a timeout: what comes late must not answer the next call
            connection.disconnect()
            raise
        self._idle.append(connection)
        return answer

    def _failed(self, why: str, sent: Sequence[bool]) -> CountersAway:
        if not self._away:
            log.warning("counters: %s is away: %s", self.place, why)
            self._away = True
            self._try_at = time.monotonic() + REST
        self.close()
        kind = CountersAway if sent else Unsent
        return kind(f"{self.place}: {why}")


def _answer(connection: Any, timer: gevent.Timeout, command: Command) -> Any:
    _send(connection, command)
    try:
        return _read(connection, timer)
    except NoScriptError:
        _send(connection, _whole(command))
        return _read(connection, timer)


def _send(connection: Any, command: Command) -> None:
    packed = hiredis.pack_command(command)  # type: ignore[arg-type]
    connection.send_packed_command([packed], check_health=False)


def _read(connection: Any, timer: gevent.Timeout) -> Any:
    try:
        return connection.read_response(disconnect_on_error=False)
    except gevent.Timeout as late:
        # This process may have been too busy to see in time what has long arrived.
        if late is not timer or not connection.can_read(0):
            raise
        return connection.read_response(timeout=0.001)


def _whole(command: Command) -> Command:
    """An EVALSHA that the server does not know, as the EVAL by which it learns it."""
    return ("EVAL", SCRIPTS[str(command[1])].source, *command[2:])
