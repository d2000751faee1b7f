"""Connections of one worker to a Redis server, with one deadline for everything that a call does.

A late answer fails its own call only, and is read when it comes (`on_late`). The server is *away*
when it refuses connections, or when it is silent (`deadlines.py`): calls then fail at once, and
a greenlet probes the server until it answers. A call that waits for a free connection waits for
this worker, not for the server, and has not begun.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gevent
from gevent.lock import BoundedSemaphore
from redis.backoff import EqualJitterBackoff
from redis.exceptions import ConnectionError as Broken
from redis.exceptions import RedisError, ResponseError

from engine.stores.counters.redis.connection import (
    Command,
    Dataset,
    RedisServer,
    connect,
    exchange,
    read,
)
from engine.stores.counters.redis.deadlines import CallDeadlines, Late
from engine.values.counters import CountersAway

log = logging.getLogger("modelway")

TIMEOUT = 5.0
"""Seconds that a call waits for a server which answers others."""
AWAY_AFTER = 2.0
"""Seconds without any answer after which a server is away: one whose machine is short of CPU may
need longer for an answer than any network does."""
PROBE_TIMEOUT = 5.0
"""Seconds of a probe: a stalled server answers as soon as it continues, and a worker under load may
need longer than a request waits."""
LATE_TIMEOUT = 30.0
"""Seconds for which a late answer is awaited."""
CONNECTIONS = 50
_BACKOFF = EqualJitterBackoff(cap=1.0, base=0.05)
_LOG_INTERVAL = 60.0

OnLate = Callable[[Any], None]
"""Called with the answer to a call that timed out, or None when no answer will come."""


class Unsent(CountersAway):
    """The server cannot be reached; nothing of this call was sent."""


class Pending(CountersAway):
    """The call was sent and timed out; `on_late` is called with the answer."""


class _Attempt:
    """The connection of a call, and whether the command was sent on it."""

    __slots__ = ("connection", "was_sent")

    def __init__(self) -> None:
        self.connection: Any = None
        self.was_sent = False

    def exchange(self, command: Command) -> Any:
        """Send the command, and return its answer."""
        self.was_sent = True
        return exchange(self.connection, command)

    def discard(self) -> None:
        """Close the connection: a late answer must not be that of the next call."""
        if self.connection is not None:
            self.connection.disconnect()


class RedisClient:
    """At most so many connections to the server at `url`, and as many whose answers are late;
    `timeout` and `away_after` are those of `CallDeadlines`.

    `dataset` knows when the server lost its data (the workers that share a `folder` all know it);
    `back_at` is when it was last available again, on the monotonic clock. ValueError for another
    URL.
    """

    def __init__(
        self,
        url: str,
        timeout: float,
        folder: Path | None = None,
        *,
        away_after: float = AWAY_AFTER,
        connections: int = CONNECTIONS,
    ) -> None:
        self._server = RedisServer(url, timeout)
        self.name = self._server.name
        self.dataset = Dataset(self.name, folder)
        self.back_at = self.dataset.lost_at
        self._deadlines = CallDeadlines(timeout, away_after)
        self._idle: list[Any] = []
        self._free, self._connections = BoundedSemaphore(connections), connections
        self._away = self._logged = False
        self._failures = 0  # consecutive, of probes and of calls after a probe succeeded
        self._log_at = -math.inf
        self._probe: gevent.Greenlet[[], None] | None = None
        self._late: set[gevent.Greenlet[..., None]] = set()

    def raise_if_away(self) -> None:
        """Raises Unsent while the server is away."""
        if self._away:
            self._start_probe()
            raise Unsent(f"{self.name} is away")

    def call(self, command: Command, *, resend: bool = True, on_late: OnLate | None = None) -> Any:
        """The answer to a command.

        With `resend` it may be sent again over a new connection when an idle connection is broken.
        Raises Unsent when nothing was sent; Pending, with `on_late` only, when the answer may still
        come; CountersAway when it was sent, or when the server refuses it.
        """
        with self._free:
            self.raise_if_away()
            attempt = _Attempt()
            try:
                answer = self._send_in_time(attempt, command, resend)
            except Late as late:
                raise self._timed_out(attempt, late, on_late) from late
            except (RedisError, OSError) as error:
                raise self._failed(attempt, error) from error
            except BaseException:
                attempt.discard()
                raise
        self._deadlines.answered()
        self._idle.append(attempt.connection)
        self._failures = 0
        return answer

    def close(self) -> None:
        """Close the connections, also those with late answers. A later call opens new ones."""
        gevent.killall([*self._late, *([self._probe] if self._probe else [])])
        self._disconnect_idle()
        self._deadlines.close()

    def _send_in_time(self, attempt: _Attempt, command: Command, resend: bool) -> Any:
        self._deadlines.start()
        try:
            return self._send(attempt, command, resend)
        finally:
            self._deadlines.stop()

    def _send(self, attempt: _Attempt, command: Command, resend: bool) -> Any:
        if self._idle:
            attempt.connection = self._idle.pop()
            try:
                if not resend:
                    attempt.connection.can_read(0)  # raises when the server has closed it
                return attempt.exchange(command)
            except Broken:
                if attempt.was_sent and not resend:
                    raise
                attempt.discard()
                self._disconnect_idle()  # the server restarted: they are broken as well
                attempt.was_sent = False
        attempt.connection = self._server.new_connection()
        self._connect(attempt.connection)
        return attempt.exchange(command)

    def _connect(self, connection: Any) -> None:
        """Connect, and find out whether the server still has its counters."""
        if self.dataset.update(connect(connection)):
            self.back_at = self.dataset.lost_at
            log.warning("counters: %s has lost its counters", self.name)

    def _disconnect_idle(self) -> None:
        while self._idle:
            self._idle.pop().disconnect()

    def _timed_out(self, attempt: _Attempt, late: Late, on_late: OnLate | None) -> CountersAway:
        if late.is_silent:
            self._set_away(str(late))
        if not attempt.was_sent:
            attempt.discard()
            return Unsent(f"{self.name}: {late}")
        if on_late is None or len(self._late) >= self._connections:
            attempt.discard()
            if on_late is None:
                return CountersAway(f"{self.name}: {late}")
            on_late(None)
        else:
            greenlet = gevent.spawn(self._await_late, attempt.connection, on_late)
            self._late.add(greenlet)
            greenlet.link(self._late.discard)
        return Pending(f"{self.name}: {late}")

    def _await_late(self, connection: Any, on_late: OnLate) -> None:
        answer = None
        try:
            with gevent.Timeout(LATE_TIMEOUT):
                answer = read(connection)
        except ResponseError as error:
            log.debug("counters: a late answer of %s: %s", self.name, error)
            connection.disconnect()
        except (RedisError, OSError, gevent.Timeout) as error:
            log.debug("counters: no late answer of %s: %s", self.name, error)
            connection.disconnect()
        except BaseException:  # the worker ends
            connection.disconnect()
            raise
        else:
            self._idle.append(connection)
            self._deadlines.answered()
        on_late(answer)

    def _failed(self, attempt: _Attempt, error: Exception) -> CountersAway:
        reason = str(error) or type(error).__name__
        if attempt.was_sent and isinstance(error, ResponseError):  # an error of the server
            self._deadlines.answered()
            self._idle.append(attempt.connection)
        else:
            attempt.discard()
            self._set_away(reason)
        return (CountersAway if attempt.was_sent else Unsent)(f"{self.name}: {reason}")

    def _set_away(self, reason: str) -> None:
        if not self._away:
            self._away = True
            if time.monotonic() >= self._log_at:
                self._log_at = time.monotonic() + _LOG_INTERVAL
                self._logged = True
                log.warning("counters: %s is away: %s", self.name, reason)
            self._disconnect_idle()
        self._start_probe()

    def _start_probe(self) -> None:
        if self._probe is None or self._probe.dead:
            self._probe = gevent.spawn(self._probe_until_back)

    def _probe_until_back(self) -> None:
        while self._away:
            self._failures = min(self._failures + 1, 10)
            gevent.sleep(_BACKOFF.compute(self._failures))
            connection = self._server.new_connection()
            timer = gevent.Timeout.start_new(PROBE_TIMEOUT)
            try:
                self._connect(connection)
            except (RedisError, OSError, gevent.Timeout) as error:
                connection.disconnect()
                log.debug("counters: %s is still away: %s", self.name, error)
                continue
            finally:
                timer.close()
            self._idle.append(connection)
            self._away = False
            self.back_at = time.monotonic()
            if self._logged:
                self._logged = False
                log.warning("counters: %s is back", self.name)
