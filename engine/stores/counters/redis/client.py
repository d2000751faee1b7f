"""Connections of one worker to a Redis server, with one deadline for all steps of a call.

A late answer fails only its own call, and is read when it arrives (`on_late`). The server is *away*
if it refuses connections, or if it is silent (`deadlines.py`): calls then fail at once, and a
greenlet probes the server until it answers. The wait for a free connection does not count: it is
not the server's fault.
"""

from __future__ import annotations

import logging
import math
import time

import gevent
from gevent.lock import BoundedSemaphore
from redis.backoff import EqualJitterBackoff
from redis.exceptions import ConnectionError as Broken
from redis.exceptions import RedisError, ResponseError

from engine.process.periodic import PeriodicTask
from engine.stores.counters.redis.address import Connection, RedisOptions
from engine.stores.counters.redis.call import (
    NOT_SERVED,
    Attempt,
    NotServed,
    OnLate,
    Pending,
    Unsent,
    is_no_master,
    is_refusal,
    reason_of,
)
from engine.stores.counters.redis.connection import (
    Answer,
    Command,
    Dataset,
    dataset_command,
    exchange,
    read,
)
from engine.stores.counters.redis.deadlines import CallDeadlines, Late
from engine.stores.counters.redis.server import RedisServer
from engine.values.counters import CountersAway

log = logging.getLogger("modelway")

PROBE_TIMEOUT = 5.0
"""Timeout of a probe in seconds. It is longer than a request's: the server may be stalled, or the
worker under load."""
LATE_TIMEOUT = 30.0
"""Seconds for which a late answer is awaited."""
FOLLOW_INTERVAL = 1.0
"""Seconds between two checks whether the master has another address."""
_BACKOFF = EqualJitterBackoff(cap=1.0, base=0.05)
_LOG_INTERVAL = 60.0


class RedisClient:
    """The connections of a worker to a server; `options` has their number and the deadlines.

    With a `dataset`, each new connection checks that the server still has its data; `back_at` is
    when it was last available again, on the monotonic clock.
    """

    def __init__(
        self, server: RedisServer, options: RedisOptions, dataset: Dataset | None = None
    ) -> None:
        self._server, self._dataset, self.name = server, dataset, server.name
        self._tag = options.tag
        self.back_at = -math.inf if dataset is None else dataset.lost_at
        self._deadlines = CallDeadlines(options.timeout, options.away_after)
        self._idle: list[Connection] = []
        self.generation = 0  # changes when the server may have restarted
        self._connections = options.connections
        self._free = BoundedSemaphore(options.connections)
        self._away = self._logged = False
        self._failures = 0  # consecutive, of probes and of calls after a probe succeeded
        self._log_at = -math.inf
        self._probe: gevent.Greenlet[[], None] | None = None
        self._late: set[gevent.Greenlet[..., None]] = set()
        self._follower: PeriodicTask | None = None

    @property
    def lost_at(self) -> float:
        """When a loss of data was last detected, on the monotonic clock."""
        return -math.inf if self._dataset is None else self._dataset.lost_at

    @property
    def is_away(self) -> bool:
        """Whether calls fail at once."""
        return self._away

    def raise_if_away(self) -> None:
        """Raises Unsent while the server is away."""
        if self._away:
            self._start_probe()
            raise Unsent(f"{self.name} is away")

    def call(
        self,
        command: Command,
        *,
        resend: bool = True,
        on_late: OnLate | None = None,
        asking: bool = False,
    ) -> Answer:
        """The answer to a command.

        With `resend` it may be sent again over a new connection if an idle connection is broken.
        Raises Unsent if nothing was executed; Pending, only with `on_late`, if the answer may still
        come; NotServed if a node of a cluster does not serve it; CountersAway if it was sent, or if
        it failed.
        """
        with self._free:
            self.raise_if_away()
            attempt = Attempt(asking)
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
        self._put_back(attempt.connection)
        self._failures = 0
        return answer

    def close(self) -> None:
        """Close the connections, also those with late answers. A later call opens new ones."""
        gevent.killall([*self._late, *([self._probe] if self._probe else [])])
        if self._follower is not None:
            self._follower.stop(0)
            self._follower = None
        self._disconnect_idle()
        self._server.close()
        self._deadlines.close()

    def _send_in_time(self, attempt: Attempt, command: Command, resend: bool) -> Answer:
        self._deadlines.start()
        try:
            return self._send(attempt, command, resend)
        finally:
            self._deadlines.stop()

    def _send(self, attempt: Attempt, command: Command, resend: bool) -> Answer:
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
                self._disconnect_idle()  # broken as well: the server has restarted
                attempt.was_sent = False
        if self._free.counter == self._connections - 1:  # no other connection is in use
            self.generation += 1
        attempt.connection = self._server.new_connection()
        self._connect(attempt.connection)
        return attempt.exchange(command)

    def _connect(self, connection: Connection) -> None:
        """Connect, and check whether the server still has its counters."""
        connection.connect()
        if self._dataset is not None:
            answer = exchange(connection, dataset_command(self._tag))
            if self._dataset.update(answer):
                self.back_at = self._dataset.lost_at
                log.warning("counters: %s has lost its counters", self.name)
        if self._server.may_move and self._follower is None:
            self._follower = PeriodicTask(self._follow, FOLLOW_INTERVAL)
            self._follower.start()

    def _follow(self, wait: float) -> float:
        """Use the current master, even if the former one still answers."""
        if self._server.has_moved():
            log.warning("counters: %s has moved", self.name)
            self.back_at = time.monotonic()
            self._disconnect_idle()
        return FOLLOW_INTERVAL

    def _put_back(self, connection: Connection) -> None:
        """Make a connection available for another call."""
        if self._server.is_current(connection):
            self._idle.append(connection)
        else:
            connection.disconnect()

    def _disconnect_idle(self) -> None:
        self.generation += 1
        while self._idle:
            self._idle.pop().disconnect()

    def _timed_out(self, attempt: Attempt, late: Late, on_late: OnLate | None) -> CountersAway:
        if late.is_silent:
            self._set_away(str(late))
        if not attempt.was_sent:
            attempt.discard()
            return Unsent(f"{self.name}: {late}")
        if on_late is None or attempt.asking or len(self._late) >= self._connections:
            attempt.discard()
            if on_late is None:
                return CountersAway(f"{self.name}: {late}")
            on_late(CountersAway(f"{self.name}: {late}"))
        else:
            greenlet = gevent.spawn(self._await_late, attempt.connection, on_late)
            self._late.add(greenlet)
            greenlet.link(self._late.discard)
        return Pending(f"{self.name}: {late}")

    def _await_late(self, connection: Connection, on_late: OnLate) -> None:
        answer: Answer | CountersAway
        try:
            with gevent.Timeout(LATE_TIMEOUT):
                answer = read(connection)
        except (RedisError, OSError, gevent.Timeout) as error:
            log.debug("counters: no late answer of %s: %s", self.name, error)
            answer = (Unsent if is_refusal(error) else CountersAway)(f"{self.name}: {error}")
            connection.disconnect()
        except BaseException:  # the worker ends
            connection.disconnect()
            raise
        else:
            self._put_back(connection)
            self._deadlines.answered()
        on_late(answer)

    def _failed(self, attempt: Attempt, error: Exception) -> CountersAway:
        reason = reason_of(error)
        message = f"{self.name}: {reason}"
        if attempt.was_sent and isinstance(error, ResponseError) and not is_no_master(error):
            self._deadlines.answered()
            self._put_back(attempt.connection)
            if isinstance(error, NOT_SERVED):
                return NotServed(message, error)
        else:
            attempt.discard()
            self._set_away(reason)
        may_be_executed = attempt.was_sent and not is_refusal(error)
        return (CountersAway if may_be_executed else Unsent)(message)

    def _set_away(self, reason: str) -> None:
        if not self._away:
            self._away = True
            if time.monotonic() >= self._log_at:
                self._log_at = time.monotonic() + _LOG_INTERVAL
                self._logged = True
                log.warning("counters: %s is away: %s", self.name, reason)
            self._server.forget()
            self._disconnect_idle()
        self._start_probe()

    def _start_probe(self) -> None:
        if self._probe is None or self._probe.dead:
            self._probe = gevent.spawn(self._probe_until_back)

    def _probe_until_back(self) -> None:
        while self._away:
            self._failures = min(self._failures + 1, 10)
            gevent.sleep(_BACKOFF.compute(self._failures))
            attempt, timer = Attempt(False), gevent.Timeout.start_new(PROBE_TIMEOUT)
            try:
                attempt.connection = self._server.new_connection()
                self._connect(attempt.connection)
            except (RedisError, OSError, gevent.Timeout) as error:
                attempt.discard()
                self._server.forget()
                log.debug("counters: %s is still away: %s", self.name, error)
                continue
            finally:
                timer.close()
            self._put_back(attempt.connection)
            self._away = False
            self.back_at = time.monotonic()
            if self._logged:
                self._logged = False
                log.warning("counters: %s is back", self.name)
