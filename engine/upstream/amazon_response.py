"""A response with an Amazon event stream, read as one with server-sent events.

It takes the place of the response where that comes in, so that what follows need not know of it.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.exchange.interfaces import Socket
from engine.relay.amazon_event_stream import MEDIA_TYPE
from engine.relay.amazon_events import AmazonEvents
from engine.upstream.client.failures import Truncated, UpstreamFailure
from engine.upstream.client.response import IncomingResponse
from engine.upstream.translated_errors import invalid_answer

_SERVER_SENT_EVENTS = ("content-type", "text/event-stream")


def with_server_sent_events(response: IncomingResponse) -> IncomingResponse:
    """The response, whose body is server-sent events if it is an Amazon event stream."""
    kind = response.header("content-type")
    return AmazonResponse(response) if kind and kind.startswith(MEDIA_TYPE) else response


class AmazonResponse:
    """A response as `IncomingResponse`: its body is read as server-sent events."""

    length: int | None = None
    _failure: UpstreamFailure | None = None

    def __init__(self, response: IncomingResponse) -> None:
        self.status = response.status
        headers = [pair for pair in response.headers if not pair[0].startswith("content-")]
        self.headers = [*headers, _SERVER_SENT_EVENTS]
        self._response = response
        self._events = AmazonEvents()

    def header(self, name: str) -> str | None:
        """The first value of a header, its name in any case."""
        low = name.lower()
        return next((value for field, value in self.headers if field == low), None)

    @property
    def is_complete(self) -> bool:
        """Whether all of the body has been read."""
        whole = self._failure is None and self._events.failure is None and not self._events.inside
        return whole and self._response.is_complete

    def read(
        self, passing: Callable[[bytes], None] | None = None, beat: float | None = None
    ) -> bytes:
        """The next events, `b""` at the end; `passing` and `beat` as in `UpstreamResponse.read`.
        Raises UpstreamFailure, for a stream that cannot be read InvalidAnswer, and Silence."""
        decode = None if passing is None else self._decode_for(passing)
        while self._failure is None:
            data = self._response.read(decode, beat)
            if not data:
                if not self._events.inside:
                    return b""
                self._fail(Truncated())
            elif events := self._decode(data):
                return events
        self._response.close()
        raise self._failure

    def close(self) -> None:
        """Release the upstream's connection."""
        self._response.close()

    def detach(self) -> tuple[Socket, bytes]:
        """Only a 101 gives its socket away, and it has no stream of events."""
        raise ValueError("an Amazon event stream is no WebSocket")

    def _decode_for(self, passing: Callable[[bytes], None]) -> Callable[[bytes], None]:
        """`passing` for the bytes of the stream."""

        def decode(data: bytes) -> None:
            if events := self._decode(data):
                passing(events)
            if self._failure is not None:
                raise self._failure

        return decode

    def _decode(self, data: bytes) -> bytes:
        """The events that `data` completes; sets the failure behind them."""
        events = self._events.feed(data)
        if self._events.failure is not None:
            self._fail(invalid_answer(str(self._events.failure)))
        return events

    def _fail(self, failure: UpstreamFailure) -> None:
        failure.request_sent = failure.response_started = True
        self._failure = failure
