"""Connections of one worker to a Redis server, with one deadline for everything that a call does.

Each call stands for itself: an answer that comes late fails that call alone, and is read when it
comes (`on_late`). Only when the server refuses connections, or answered nobody while a call waited,
is it *away*: calls then fail at once, and a greenlet asks for it until it answers, however often
that happens.

redis-py makes the connections, speaks the protocol and parses it with hiredis. Its pool is not
used: before each command `get_connection` polls the socket through gevent's loop, which costs 40 us
of CPU where a whole take costs 70 (`benchmarks/counters.py`). In its place is a list of idle
connections.
"""

from __future__ import annotations

import logging
import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gevent
import hiredis
import redis
from gevent import monkey
from gevent.lock import BoundedSemaphore
from redis.backoff import EqualJitterBackoff, NoBackoff
from redis.exceptions import ConnectionError as Broken
from redis.exceptions import NoScriptError, RedisError, ResponseError
from redis.retry import Retry

from engine.stores.counters.redis_mark import Mark
from engine.stores.counters.redis_scripts import MARK, MARK_KEY, SCRIPTS
from engine.values.counters import CountersAway

log = logging.getLogger("modelway")

UNHURRIED = 1.0
"""Seconds for what no request waits for: a busy worker need not be in time with that."""
PROBE = 5.0
"""Seconds for asking whether the server is back: a stalled one answers as soon as it goes on, and a
worker under load may need longer than a request waits."""
LATE = 30.0
"""Seconds after which an answer that is late is no longer waited for."""
CONNECTIONS = 50
"""How many calls are under way at one time, and how many late answers are waited for."""
_BACKOFF = EqualJitterBackoff(cap=1.0, base=0.05)
_LOG_EVERY = 60.0
_SCHEMES = ("redis://", "rediss://", "unix://")

Command = tuple[str | int, ...]
OnLate = Callable[[Any], None]
"""Takes the answer to a call that timed out, or None when it is certain that none will come."""


class Unsent(CountersAway):
    """The server cannot be reached, and was sent nothing of this call."""


class Pending(CountersAway):
    """The call was sent and timed out; `on_late` gets the answer."""


class _Attempt:
    """How far a call has come: the connection it has, and whether anything was sent on it."""

    __slots__ = ("connection", "sent")

    def __init__(self) -> None:
        self.connection: Any = None
        self.sent = False

    def discard(self) -> None:
        """Close the connection: what comes late must not answer the next call."""
        if self.connection is not None:
            self.connection.disconnect()


class Link:
    """Connections to the server at `url`, with `timeout` seconds for every call.

    `mark` tells whether the server lost its data, also to workers that start later where they share
    a `folder`; `back_at`, on the steady clock, when it last came back, with its data or without.
    ValueError for what is no such URL.
    """

    def __init__(self, url: str, timeout: float, folder: Path | None = None) -> None:
        try:
            if not url.startswith(_SCHEMES):
                raise ValueError
            # A timer of gevent's guards a call; this is for processes that gevent did not patch.
            blocking = None if monkey.is_module_patched("socket") else timeout
            self._source = redis.ConnectionPool.from_url(
                url,
                protocol=2,
                retry=Retry(NoBackoff(), 0),
                socket_timeout=blocking,
                socket_connect_timeout=blocking,
            )
            sample = self._new_connection()
        except (ValueError, TypeError):  # its words may hold the password
            raise ValueError(
                "counters: expected redis://[[user]:password@]host[:port][/db], rediss://... or "
                "unix:///path/to/socket; special characters of a password are percent-encoded"
            ) from None
        address = getattr(sample, "path", None) or f"{sample.host}:{sample.port}"
        self.place = f"redis at {address}"
        self.mark = Mark(self.place, folder)
        self.back_at = self.mark.lost_at
        self._timeout = timeout
        self._idle: list[Any] = []
        self._free = BoundedSemaphore(CONNECTIONS)
        self._answered_at = -math.inf
        self._away = self._logged = False
        self._failures = 0  # in a row, of asking for the server and of calls after it answered
        self._log_at = -math.inf
        self._probe: gevent.Greenlet[[], None] | None = None
        self._late: set[gevent.Greenlet[..., None]] = set()

    def check(self) -> None:
        """Raises Unsent while the server is away."""
        if self._away:
            self._start_probe()
            raise Unsent(f"{self.place} is away")

    def call(
        self,
        command: Command,
        *,
        resend: bool = True,
        timeout: float = 0.0,
        on_late: OnLate | None = None,
    ) -> Any:
        """The answer to a command, within `timeout` seconds where those are more than the link's.

        With `resend` it may be sent once more, over a new connection, when an old one turns out to
        be broken. Raises Unsent when nothing was sent; Pending, with `on_late` only, when the
        answer may still come; CountersAway when it was sent, or the server refuses it.
        """
        self.check()
        attempt, began = _Attempt(), time.monotonic()
        seconds = max(timeout, self._timeout)
        timer = gevent.Timeout.start_new(seconds)
        try:
            with self._free:
                answer = self._ask(attempt, command, timer, resend)
        except gevent.Timeout as late:
            if late is not timer:
                attempt.discard()
                raise
            raise self._timed_out(attempt, began, seconds, on_late) from late
        except (RedisError, OSError) as error:
            raise self._failed(attempt, error) from error
        except BaseException:
            attempt.discard()
            raise
        finally:
            timer.close()
        self._idle.append(attempt.connection)
        self._answered_at = time.monotonic()
        self._failures = 0
        return answer

    def close(self) -> None:
        """Let go of the connections, and of answers that are late; a later call makes new ones."""
        gevent.killall([*self._late, *([self._probe] if self._probe else [])])
        self._disconnect_idle()

    def _ask(self, attempt: _Attempt, command: Command, timer: gevent.Timeout, resend: bool) -> Any:
        if self._idle:
            attempt.connection = self._idle.pop()
            try:
                if not resend:
                    attempt.connection.can_read(0)  # raises when the server has closed it
                return _exchange(attempt, command, timer)
            except Broken:
                if attempt.sent and not resend:
                    raise
                attempt.discard()
                self._disconnect_idle()  # the server was started anew: the others are as old
                attempt.sent = False
        attempt.connection = self._new_connection()
        self._connect(attempt.connection)
        return _exchange(attempt, command, timer)

    def _new_connection(self) -> Any:
        return self._source.connection_class(**self._source.connection_kwargs)

    def _connect(self, connection: Any) -> None:
        """Connect, and find out whether the server still has what was counted there."""
        connection.connect()
        name = os.urandom(8).hex()
        _send(connection, ("EVAL", MARK, 1, MARK_KEY, name))
        if self.mark.see(connection.read_response(disconnect_on_error=False).decode()):
            self.back_at = self.mark.lost_at
            log.warning("counters: %s has lost what was counted there", self.place)

    def _disconnect_idle(self) -> None:
        while self._idle:
            self._idle.pop().disconnect()

    def _timed_out(
        self, attempt: _Attempt, began: float, seconds: float, on_late: OnLate | None
    ) -> CountersAway:
        why = f"no answer within {seconds:g} s"
        # Others were answered meanwhile, or all connections are in use: the server is there.
        if attempt.connection is not None and self._answered_at < began:
            self._set_away(why)
        if not attempt.sent:
            attempt.discard()
            return Unsent(f"{self.place}: {why}")
        if on_late is None or len(self._late) >= CONNECTIONS:
            attempt.discard()
            if on_late is None:
                return CountersAway(f"{self.place}: {why}")
            on_late(None)
        else:
            greenlet = gevent.spawn(self._await_late, attempt.connection, on_late)
            self._late.add(greenlet)
            greenlet.link(self._late.discard)
        return Pending(f"{self.place}: {why}")

    def _await_late(self, connection: Any, on_late: OnLate) -> None:
        answer = None
        try:
            with gevent.Timeout(LATE):
                answer = connection.read_response(disconnect_on_error=False)
        except ResponseError as error:
            log.debug("counters: a late answer of %s: %s", self.place, error)
            connection.disconnect()
        except (RedisError, OSError, gevent.Timeout) as error:
            log.debug("counters: a late answer of %s never came: %s", self.place, error)
            connection.disconnect()
        except BaseException:  # the worker ends
            connection.disconnect()
            raise
        else:
            self._idle.append(connection)
            self._answered_at = time.monotonic()
        on_late(answer)

    def _failed(self, attempt: _Attempt, error: Exception) -> CountersAway:
        why = str(error) or type(error).__name__
        if attempt.sent and isinstance(error, ResponseError):  # the server is there, and says no
            self._idle.append(attempt.connection)
        else:
            attempt.discard()
            self._set_away(why)
        return (CountersAway if attempt.sent else Unsent)(f"{self.place}: {why}")

    def _set_away(self, why: str) -> None:
        if not self._away:
            self._away = True
            if time.monotonic() >= self._log_at:
                self._log_at = time.monotonic() + _LOG_EVERY
                self._logged = True
                log.warning("counters: %s is away: %s", self.place, why)
            self._disconnect_idle()
        self._start_probe()

    def _start_probe(self) -> None:
        if self._probe is None or self._probe.dead:
            self._probe = gevent.spawn(self._ask_until_back)

    def _ask_until_back(self) -> None:
        while self._away:
            self._failures = min(self._failures + 1, 10)
            gevent.sleep(_BACKOFF.compute(self._failures))
            connection = self._new_connection()
            timer = gevent.Timeout.start_new(PROBE)
            try:
                self._connect(connection)
            except (RedisError, OSError, gevent.Timeout) as error:
                connection.disconnect()
                log.debug("counters: %s is still away: %s", self.place, error)
                continue
            finally:
                timer.close()
            self._idle.append(connection)
            self._away = False
            self._answered_at = self.back_at = time.monotonic()
            if self._logged:
                self._logged = False
                log.warning("counters: %s is back", self.place)


def _exchange(attempt: _Attempt, command: Command, timer: gevent.Timeout) -> Any:
    connection = attempt.connection
    attempt.sent = True
    _send(connection, command)
    try:
        return _read(connection, timer)
    except NoScriptError:  # sent again as the EVAL by which the server learns it
        _send(connection, ("EVAL", SCRIPTS[str(command[1])].source, *command[2:]))
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
