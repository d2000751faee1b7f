"""A session: it reads the messages of a socket, answers them, and ends in good order.

How it ends, see `relay/websocket/close_frames.py`; besides:

    the client has left           its requests are cancelled, and so are those of the upstreams
    the worker stops soon         the requests under way are answered; then 1001
    it is too old                 the same, with `websocket_connection_limit_reached` before
    the worker stops              each open request gets its error; then 1012

A response is never cut by 1000 or 1001: openai-python would take it for complete.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from gevent import GreenletExit

from engine.exchange.outcome import CallerLeft, Outcome
from engine.exchange.request_record import Traffic
from engine.relay.websocket import close_frames
from engine.relay.websocket.channel import Channel, Stopped
from engine.relay.websocket.close_frames import Ending
from engine.relay.websocket.endpoint import Closed, Endpoint, Liveness, Message
from engine.relay.websocket.frames import sendable
from engine.relay.websocket.open_sessions import SessionLimits, duration_text
from engine.sockets.lanes import Lanes, Run
from engine.sockets.messages import (
    InvalidMessage,
    Steer,
    own_error,
    read_message,
    steering_failed,
)
from engine.values.errors import AbortConnection, AbortReason, GatewayError

_SEND_SECONDS = 60.0
"""How long a client may accept nothing while there is something to send."""

_CANCEL_SECONDS = 5.0
_ERROR_SECONDS = 1.0
"""How long the requests of a stopping worker may take to send their error."""


class ClientOutlet:
    """The way to the client: an Outlet of `socket_request`. It counts messages into `traffic`."""

    def __init__(self, channel: Channel, traffic: Traffic) -> None:
        self._channel, self._count = channel, traffic.received

    def send(self, *messages: bytes) -> None:
        self._channel.send_text(*messages)
        self._count.messages += len(messages)
        self._count.bytes += sum(map(len, messages))

    def wait(self) -> None:
        if not self._channel.outbox.room(_SEND_SECONDS):
            raise AbortConnection(AbortReason.CALLER_LEFT, "the client accepts nothing")

    @property
    def is_full(self) -> bool:
        return self._channel.outbox.full and not self._channel.outbox.broken


class ResponsesSession:
    """One socket. `turns` makes the function that answers its requests, given the way to the
    client; `run` returns when the session is over. Of messages of more than `large` bytes little is
    parsed."""

    def __init__(
        self,
        channel: Channel,
        limits: SessionLimits,
        traffic: Traffic,
        turns: Callable[[ClientOutlet], Run],
        large: float = math.inf,
    ) -> None:
        self._large = large
        self.traffic = traffic
        self._channel, self._limits = channel, limits
        self._outlet = ClientOutlet(channel, traffic)
        self._lanes = Lanes(turns(self._outlet), 2 * limits.max_message, self._idle)
        self._liveness = Liveness(channel, limits.ping)
        self._ending: Ending | None = None
        self._last: Ending | None = None  # how it ends as soon as it is idle
        self._start = self._last_message = time.monotonic()

    def run(self) -> None:
        """Answer messages until the client leaves, or `end` is called."""
        channel, traffic = self._channel, self.traffic
        try:
            self._receive()
            self._close()
        except BaseException as error:
            traffic.code = 1011 if isinstance(error, Exception) else 1012
            channel.close(
                close_frames.close_both(traffic.code, "the gateway ends this session").caller
            )
            raise
        finally:
            self._lanes.cancel(CallerLeft, _CANCEL_SECONDS)
            channel.outbox.drop()
            traffic.seconds = time.monotonic() - self._start

    def end(self, end: Ending) -> None:
        """End the session, unless it is already ending."""
        if self._ending is None:
            self._ending = end
            self.traffic.code, self.traffic.outcome = sendable(end.caller).code, end.outcome
            self._channel.stop()

    def leave(self) -> None:
        """End when the requests under way are answered."""
        self._end_when_idle(close_frames.close_both(1001, "the gateway restarts; connect again"))

    def check_time(self, now: float) -> None:
        """End the session if it is too old or idle, or does not answer pings."""
        limits = self._limits
        if now - self._start > limits.session and self._last is None:
            end = close_frames.close_both(1001, f"the limit is {duration_text(limits.session)}")
            self._end_when_idle(end._replace(error=_too_old(limits.session)))
        elif self._lanes.is_idle and now - self._last_message > limits.idle:
            self.end(close_frames.close_both(1001, f"no message for {duration_text(limits.idle)}"))
        if self._liveness.is_lost(now):
            self.end(close_frames.caller_disconnected())

    def _end_when_idle(self, end: Ending) -> None:
        self._last = self._last or end
        if self._lanes.is_idle:
            self.end(self._last)

    def _idle(self) -> None:
        """No request is left."""
        self._last_message = time.monotonic()
        if self._last is not None:
            self.end(self._last)

    def _receive(self) -> None:
        """Read messages until the session ends."""
        channel, endpoint = self._channel, Endpoint(self._channel, self._limits.max_pings)
        try:
            while self._ending is None:
                message = endpoint.receive()
                self._last_message = channel.last_received
                self.traffic.sent.messages += 1
                self.traffic.sent.bytes += len(message.data)
                try:
                    self._answer(message)
                except InvalidMessage as invalid:
                    self._outlet.send(own_error(invalid.error, invalid.stream_id))
                if self._outlet.is_full:  # nothing is read of a client that does not read
                    self._outlet.wait()
        except Stopped:
            return
        except AbortConnection:
            self.end(close_frames.caller_disconnected())
        except Closed as closed:
            if closed.is_violation:
                self.end(close_frames.close_both(closed.code, closed.reason))
            elif channel.closed is not None:
                self.end(close_frames.close_received(channel.closed))
            else:
                self.end(close_frames.caller_disconnected())

    def _answer(self, message: Message) -> None:
        if not message.text:
            raise InvalidMessage(GatewayError(400, "invalid_type", "Send messages as text."))
        content = read_message(message.data, self._large)
        if isinstance(content, Steer):
            self._outlet.send(steering_failed(content))
            return
        try:
            if self._last is not None or self._ending is not None:
                raise _connect_again()
            self._lanes.add(content, len(message.data))
        except GatewayError as error:
            raise InvalidMessage(error, content.stream_id) from None

    def _close(self) -> None:
        """End the open requests as the ending says, and close."""
        end, channel = self._ending, self._channel
        assert end is not None
        if end.outcome in (Outcome.SHUTDOWN, Outcome.REVOKED):
            for create in self._lanes.drop_waiting():
                self._outlet.send(own_error(end.error or _connect_again(), create.stream_id))
            self._lanes.join(_ERROR_SECONDS)  # they get their error by `RequestLifecycle`
        is_stop = end.outcome is Outcome.SHUTDOWN
        self._lanes.cancel(GreenletExit if is_stop else CallerLeft, _CANCEL_SECONDS)
        if end.error is not None:
            self._outlet.send(own_error(end.error))
        channel.close(end.caller)
        channel.finish(end.timeout)


def _too_old(seconds: float) -> GatewayError:
    message = (
        f"A connection may last {duration_text(seconds)}. Open another one, and send the whole "
        "conversation there."
    )
    return GatewayError(400, "websocket_connection_limit_reached", message)


def _connect_again() -> GatewayError:
    """For a request that is not begun: clients send it again over another socket, as they do not
    after a 503 (Codex 0.171)."""
    message = "This connection is about to close. Open another one, and send the request there."
    return GatewayError(400, "websocket_connection_limit_reached", message)
