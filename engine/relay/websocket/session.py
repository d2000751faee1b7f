"""A session: the two sides of a WebSocket, and the frames relayed between them.

The law of the frames: text, binary and continuation frames are relayed unchanged, in the same
pieces, unless messages are edited. The gateway answers a ping and also relays it; the pong to the
relayed ping is dropped, so that one ping gets one pong. Any other pong is relayed (RFC 6455 5.5.3).
A close is relayed with its code and reason; see `close_frames.py`.

The gateway pings a side that is silent for `ping` seconds; if it stays silent for as long again, it
counts as disconnected.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import gevent
from websockets.frames import CLOSE, PING, PONG, TEXT, Close, Frame

from engine.exchange.request_record import Traffic
from engine.exchange.token_bucket import TokenBucket
from engine.process.loop_turn import await_turn
from engine.relay.websocket import close_frames
from engine.relay.websocket.channel import Channel, PeerDisconnected, Stopped
from engine.relay.websocket.close_frames import Ending
from engine.relay.websocket.endpoint import Liveness
from engine.relay.websocket.frames import Violation, sendable
from engine.relay.websocket.message_edits import EditedFrames, MessageEdits
from engine.relay.websocket.open_sessions import CHECK_INTERVAL, SessionLimits, duration_text
from engine.relay.websocket.traffic import ReadUsage, TrafficReader
from engine.values.errors import GatewayError
from engine.values.event_json import LONG_EVENT


class Session:
    """Two channels and the relay between them. `run` returns when both are closed.

    `error` makes the message that reports an error to the caller, `usage` reads usage from the
    upstream's messages, `total` that of the session so far, `redact` removes credentials from those
    that may report an error. `traffic` counts what is relayed. `opening` is a text message that the
    upstream gets first, b"" for none. With `edits` messages are joined, and edited as a whole.
    """

    def __init__(
        self,
        caller: Channel,
        upstream: Channel,
        limits: SessionLimits,
        traffic: Traffic,
        *,
        error: Callable[[GatewayError], bytes] | None = None,
        usage: ReadUsage | None = None,
        total: ReadUsage | None = None,
        redact: Callable[[bytes], bytes] | None = None,
        opening: bytes = b"",
        edits: MessageEdits | None = None,
    ) -> None:
        self._caller = caller
        self._upstream = upstream
        self._limits = limits
        self.traffic = traffic
        self._error = error
        self._usage = usage
        self._total = total
        self._redact = redact
        self._opening = opening
        self._edited = {}
        if edits is not None:
            self._edited = {
                caller: EditedFrames(edits.sent),
                upstream: EditedFrames(edits.received),
            }
        self._ending: Ending | None = None
        self._liveness = [(side, Liveness(side, limits.ping)) for side in (caller, upstream)]
        self._paused: set[Channel] = set()
        self._start = self._last_message = time.monotonic()

    def run(self) -> None:
        """Relay until one side ends the session, or `end` is called."""
        caller, upstream, traffic = self._caller, self._upstream, self.traffic
        received = TrafficReader(traffic.received, self._usage, self._total)
        if self._opening:
            upstream.send(TEXT, self._opening)
        upstream_relay = gevent.spawn(self._relay, upstream, caller, received)
        try:
            self._relay(caller, upstream, TrafficReader(traffic.sent))
            upstream_relay.get()
            self._close()
        except BaseException as error:
            # An error of the gateway, or a kill: there is no time for closing handshakes.
            traffic.code = 1011 if isinstance(error, Exception) else 1012
            for channel in (caller, upstream):
                channel.close(Close(traffic.code, "the gateway ends this session"))
            raise
        finally:
            for channel in (caller, upstream):
                channel.outbox.drop()
            upstream_relay.kill()  # no greenlet may wait on a socket that its owner closes
            traffic.seconds = time.monotonic() - self._start
            traffic.usage = received.usage

    def end(self, end: Ending) -> None:
        """End the session, unless it is already ending, and wake the greenlets that wait."""
        if self._ending is None:
            self._ending = end
            self.traffic.code = sendable(end.caller).code
            self.traffic.outcome = end.outcome
            self._caller.stop()
            self._upstream.stop()

    def check_time(self, now: float) -> None:
        """End the session if it is too long or idle, or a side does not answer pings."""
        limits = self._limits
        if now - self._start > limits.session:
            reason = f"the session reached its limit of {duration_text(limits.session)}"
            self.end(close_frames.close_both(1001, reason))
        elif now - self._last_message > limits.idle:
            self.end(close_frames.close_both(1001, f"no message for {duration_text(limits.idle)}"))
        for channel, liveness in self._liveness:
            if liveness.is_lost(now, paused=channel in self._paused):
                self.end(self._disconnected(channel))

    def leave(self) -> None:
        """Nothing: a session goes on until its worker stops."""

    def _relay(self, source: Channel, sink: Channel, traffic: TrafficReader) -> None:
        """Relay the frames of one side, until it or the session ends."""
        max_pings = self._limits.max_pings
        pings = TokenBucket(max_pings / 60, max_pings, time.monotonic())
        try:
            for frame in source.frames():
                opcode = frame.opcode
                if opcode is PING:
                    self._count_ping(pings, source)
                    sink.ping(bytes(frame.data))
                elif opcode is PONG:
                    if not source.is_answer(bytes(frame.data)):
                        self._count_ping(pings, source)
                        sink.send(PONG, frame.data)
                elif opcode is CLOSE:
                    self.end(close_frames.close_received(source.closed))
                else:
                    if is_long := len(frame.data) > LONG_EVENT:
                        await_turn()  # to read, to send and to search it takes milliseconds each
                    if self._edited:
                        self._send_edited(frame, source, sink)
                    else:
                        sink.send(opcode, self._redacted(frame, source), frame.fin)
                    if is_long:
                        await_turn()
                    traffic.add(frame)
                    self._last_message = source.last_received
                if sink.outbox.full:
                    self._wait_for_room(source, sink)
                if self._ending is not None:
                    return
        except Stopped:
            return
        except PeerDisconnected:
            self.end(self._disconnected(source))
        except Violation as violation:
            if source is self._caller:
                self.end(close_frames.caller_violation(violation))
            else:
                self.end(close_frames.upstream_violation(violation))
        except Exception:
            self.end(close_frames.close_both(1011, "the gateway failed"))
            raise

    def _send_edited(self, frame: Frame, source: Channel, sink: Channel) -> None:
        """Send the message that a frame completes, edited. One that must not be sent is an error
        for the caller, and the session goes on; of a dialect without such errors it ends."""
        try:
            message = self._edited[source].feed(frame)
        except GatewayError as error:
            if self._error is None:
                self.end(close_frames.close_both(1008, error.message))
            else:
                self._caller.send(TEXT, self._error(error))
            return
        if message is not None:
            opcode, data = message
            sink.send(opcode, self._without_credentials(data, source))

    def _redacted(self, frame: Frame, source: Channel) -> Any:
        """The data of a frame, without credentials if the upstream may report an error in it."""
        if self._redact is None or source is not self._upstream:
            return frame.data
        data = frame.data if isinstance(frame.data, bytes | bytearray) else bytes(frame.data)
        return self._without_credentials(data, source)

    def _without_credentials(self, data: bytes | bytearray, source: Channel) -> bytes | bytearray:
        if self._redact is None or source is not self._upstream:
            return data
        # `rfind` takes a quarter of the time of `in`, and long data is not copied for it.
        return data if data.rfind(b"error") < 0 else self._redact(bytes(data))

    def _count_ping(self, pings: TokenBucket, source: Channel) -> None:
        """Raises Violation for a side that sends too many pings and pongs."""
        if pings.take(source.last_received):
            max_pings = self._limits.max_pings
            raise Violation(1008, f"more than {max_pings} pings and pongs a minute")

    def _wait_for_room(self, source: Channel, sink: Channel) -> None:
        """Backpressure: stop reading from `source` until `sink` has accepted its backlog."""
        self._paused.add(source)
        try:
            while self._ending is None and not sink.outbox.room(CHECK_INTERVAL):
                if source.is_disconnected():
                    raise PeerDisconnected
        finally:
            self._paused.discard(source)
            source.last_received = time.monotonic()

    def _disconnected(self, source: Channel) -> Ending:
        if source is self._caller:
            return close_frames.caller_disconnected()
        return close_frames.upstream_disconnected()

    def _close(self) -> None:
        """Close both sides at the same time."""
        end, caller, upstream = self._ending, self._caller, self._upstream
        assert end is not None
        if end.error is not None and self._error is not None and not caller.in_message:
            caller.send(TEXT, self._error(end.error))
        caller.close(end.caller)
        upstream.close(end.upstream)
        upstream_close = gevent.spawn(upstream.finish, end.timeout)
        try:
            caller.finish(end.timeout)
            upstream_close.join()
        finally:
            upstream_close.kill()  # no greenlet may wait on a socket that its owner closes
