"""A session: two sides of a WebSocket each, and what passes between them.

The law of the frames: text, binary and continuation pass as they come, in the same pieces. A ping
is answered here and passed on as well; the pong to that is for us and ends here, so that one ping
gets one pong; any other pong passes (RFC 6455 5.5.3). A close passes with its code and reason.

The law of the ends, told to the caller / to the upstream:

    a close from one side      is answered, and passed to the other; 1005, 1006, 1015
                               become 1000, 1011, 1014
    the caller is gone                                     -- / 1011
    the upstream is gone       the error event and 1011       / --
    one side breaks the rules  it is told 1002, 1007, 1008 or 1009; the other 1011, or 1009 for 1009
    idle or too long           1001                           / 1001
    the worker ends            1012                           / 1012

A side that is silent for `ping` seconds is sent a ping; after as many more it counts as gone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import gevent
from websockets.frames import CLOSE, PING, PONG, TEXT, Close

from engine.exchange.record import Outcome, Traffic
from engine.relay.websocket.channel import Channel, Gone, Stopped
from engine.relay.websocket.frames import Violation, sendable
from engine.relay.websocket.rate import Rate
from engine.relay.websocket.tally import Read, Tally

_LOOK = 0.5
_GOODBYE = 2.0
_BRIEF = 0.5
_LEFT = 1006


class SessionLimits(NamedTuple):
    """`max_message` in bytes; `idle` (no message either way), `session` and `ping` in seconds.

    `max_pings` is how many pings, and pongs that answer none of ours, one side may send a minute.
    """

    max_message: int = 16 * 1024 * 1024
    idle: float = 600.0
    session: float = 7200.0
    ping: float = 20.0
    compression: bool = False
    max_pings: int = 600


class End(NamedTuple):
    """Why a session ends: what each side is told, in how many seconds it has to say goodbye, and
    what went wrong upstream, in words for the caller. `outcome` is for the ledger."""

    caller: Close
    upstream: Close
    seconds: float = _GOODBYE
    failure: str = ""
    outcome: Outcome = Outcome.COMPLETE


class Session:
    """Two channels and what is between them. `run` returns when both have been told the end.

    `error` makes the message that tells a caller of an upstream's failure, `usage` reads the
    messages of the upstream.
    """

    def __init__(
        self,
        caller: Channel,
        upstream: Channel,
        limits: SessionLimits,
        traffic: Traffic,
        *,
        error: Callable[[str], bytes] | None = None,
        usage: Read | None = None,
    ) -> None:
        self._caller = caller
        self._upstream = upstream
        self._limits = limits
        self._traffic = traffic
        self._error = error
        self._usage = usage
        self._end: End | None = None
        self._asked: dict[Channel, float] = {}  # when a side was sent a ping of ours
        self._paused: set[Channel] = set()
        self._begun = self._spoken = time.monotonic()

    def run(self) -> None:
        """Relay until one side ends it, or `end` is called."""
        caller, upstream, traffic = self._caller, self._upstream, self._traffic
        back = Tally(traffic.received, self._usage)
        other = gevent.spawn(self._relay, upstream, caller, back)
        try:
            self._relay(caller, upstream, Tally(traffic.sent))
            other.get()
            self._finish()
        except BaseException as error:
            # A fault of ours, or killed: there is no time to wait for anybody.
            traffic.code = 1011 if isinstance(error, Exception) else 1012
            for channel in (caller, upstream):
                channel.close(Close(traffic.code, "the gateway ends this session"))
            raise
        finally:
            other.kill(block=False)
            for channel in (caller, upstream):
                channel.outbox.drop()  # its owner closes the socket now
            traffic.seconds = time.monotonic() - self._begun
            traffic.usage = back.total

    def end(self, end: End) -> None:
        """End it, if nothing else has; whoever waits for a side is woken."""
        if self._end is None:
            self._end = end
            self._traffic.code = sendable(end.caller).code
            self._traffic.outcome = Outcome.UPSTREAM_CUT if end.failure else end.outcome
            self._caller.stop()
            self._upstream.stop()

    def restart(self) -> None:
        """The worker ends."""
        words = "the gateway restarts; connect again"
        self.end(End(Close(1012, words), Close(1012, words), 1.0, outcome=Outcome.SHUTDOWN))

    def look(self, now: float) -> None:
        """Time has passed: is it too long, idle, or is a side no longer there?"""
        limits = self._limits
        if now - self._begun > limits.session:
            self._over(f"the session reached its limit of {_spoken(limits.session)}")
        elif now - self._spoken > limits.idle:
            self._over(f"nothing was said for {_spoken(limits.idle)}")
        for channel in (self._caller, self._upstream):
            self._ask(channel, now)

    def _ask(self, channel: Channel, now: float) -> None:
        """Send a ping to a side that has been silent; give it up if it had one and still is."""
        alive, asked = channel.alive, self._asked.get(channel)
        if channel in self._paused or (asked is not None and alive > asked):
            self._asked.pop(channel, None)
        elif asked is not None:
            if now - asked >= self._limits.ping:
                self.end(self._gone(channel))
        elif now - alive >= self._limits.ping:
            self._asked[channel] = now
            channel.ping(b"")

    def _over(self, words: str) -> None:
        self.end(End(Close(1001, words), Close(1001, words)))

    def _relay(self, source: Channel, sink: Channel, tally: Tally) -> None:
        """Pass on what a side says, until it or the session ends."""
        pings = Rate(self._limits.max_pings, time.monotonic())
        try:
            for frame in source.frames():
                opcode = frame.opcode
                if opcode is PING:
                    self._count(pings, source)
                    sink.ping(bytes(frame.data))
                elif opcode is PONG:
                    if not source.answers(bytes(frame.data)):
                        self._count(pings, source)
                        sink.send(PONG, frame.data)
                elif opcode is CLOSE:
                    self.end(self._closed(source))
                else:
                    sink.send(opcode, frame.data, frame.fin)
                    tally.note(frame)
                    self._spoken = source.heard
                if sink.outbox.full:
                    self._pause(source, sink)
                if self._end is not None:
                    return
        except Stopped:
            return
        except Gone:
            self.end(self._gone(source))
        except Violation as violation:
            self.end(self._broken(source, violation))
        except Exception:
            failed = Close(1011, "the gateway failed")
            self.end(End(failed, failed))
            raise

    def _count(self, pings: Rate, source: Channel) -> None:
        """Raises Violation for a side that sends pings and pongs without end."""
        if not pings.take(source.heard):
            most = self._limits.max_pings
            raise Violation(1008, f"more than {most} pings and pongs a minute")

    def _pause(self, source: Channel, sink: Channel) -> None:
        """Read nothing more of one side until the other has taken what waits for it."""
        self._paused.add(source)
        try:
            while self._end is None and not sink.outbox.room(_LOOK):
                if source.left():
                    raise Gone
        finally:
            self._paused.discard(source)
            source.heard = time.monotonic()

    def _closed(self, source: Channel) -> End:
        close = source.closed or Close(_LEFT, "")
        return End(close, close)

    def _gone(self, source: Channel) -> End:
        if source is self._caller:
            left = Close(_LEFT, "the caller left")
            return End(left, left, _BRIEF, outcome=Outcome.CALLER_LEFT)
        left = Close(_LEFT, "the upstream left")
        return End(left, left, failure="The upstream left in the middle of the session.")

    def _broken(self, source: Channel, violation: Violation) -> End:
        code = violation.code if violation.code == 1009 else 1011
        told = Close(violation.code, violation.words)
        if source is self._caller:
            return End(told, Close(code, "the caller's message is not valid"))
        words = f"The upstream's message is not valid: {violation.words}."
        return End(Close(code, "the upstream's message is not valid"), told, failure=words)

    def _finish(self) -> None:
        """Say goodbye to both at the same time."""
        end, caller, upstream = self._end, self._caller, self._upstream
        assert end is not None
        if end.failure and self._error is not None and not caller.amid:
            caller.send(TEXT, self._error(end.failure))
        caller.close(end.caller)
        upstream.close(end.upstream)
        other = gevent.spawn(upstream.finish, end.seconds)
        caller.finish(end.seconds)
        other.join()


def _spoken(seconds: float) -> str:
    return f"{seconds / 60:g} min" if seconds >= 120 else f"{seconds:g} s"
