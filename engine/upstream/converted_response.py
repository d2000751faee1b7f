"""A response whose stream has another framing, read as server-sent events."""

from __future__ import annotations

from collections.abc import Callable

from engine.relay.framing import EventSource
from engine.upstream.client.failures import Truncated, UpstreamFailure
from engine.upstream.client.response import IncomingResponse
from engine.upstream.translated_errors import invalid_answer
from engine.upstream.wrapped_response import WrappedResponse

_SERVER_SENT_EVENTS = ("content-type", "text/event-stream")


class ConvertedResponse(WrappedResponse):
    """A response whose stream `source` turns into server-sent events."""

    def __init__(self, response: IncomingResponse, source: EventSource) -> None:
        headers = [pair for pair in response.headers if not pair[0].startswith("content-")]
        super().__init__(response, [*headers, _SERVER_SENT_EVENTS])
        self._source = source

    @property
    def is_complete(self) -> bool:
        """Whether all of the body has been read."""
        failure = self._failure or self._source.failure
        return failure is None and not self._source.inside and self._response.is_complete

    def read(
        self, on_data: Callable[[bytes], None] | None = None, beat: float | None = None
    ) -> bytes:
        """The next events, `b""` at the end; `on_data` and `beat` as in `UpstreamResponse.read`.
        Raises UpstreamFailure (InvalidAnswer if the stream cannot be read) and Silence."""
        events = self._read_mapped(self._convert, on_data, beat)
        if not events and self._source.inside:
            self._response.close()
            raise self._fail(Truncated())
        return events

    def _convert(self, data: bytes) -> bytes:
        """The events that `data` completes; a failure that follows them is set, not raised."""
        events = self._source.feed(data)
        if self._source.failure is not None:
            self._fail(invalid_answer(str(self._source.failure)))
        return events

    def _fail(self, failure: UpstreamFailure) -> UpstreamFailure:
        failure.request_sent = failure.response_started = True
        self._failure = failure
        return failure
