"""Responses of Amazon's services: event streams converted to server-sent events, and the name of an
error in a header."""

from __future__ import annotations

import re
from collections.abc import Callable

from engine.relay.amazon_event_stream import MEDIA_TYPE
from engine.relay.amazon_events import AmazonEvents
from engine.upstream.client.failures import Truncated, UpstreamFailure
from engine.upstream.client.response import IncomingResponse
from engine.upstream.translated_errors import invalid_answer
from engine.upstream.wrapped_response import WrappedResponse

_SERVER_SENT_EVENTS = ("content-type", "text/event-stream")
_ERROR_TYPE = re.compile(r"(?:[^#:]*#)?([A-Za-z]{1,100})(?::|$)")
"""As botocore reads it: `com.amazon#ThrottlingException:http://internal.amazon.com/`."""


def with_server_sent_events(response: IncomingResponse) -> IncomingResponse:
    """The response, with an Amazon event stream converted to server-sent events."""
    kind = response.header("content-type")
    return AmazonResponse(response) if kind and kind.startswith(MEDIA_TYPE) else response


def error_code(response: IncomingResponse) -> str:
    """The name of an error in the headers, "" for none; the body often lacks it."""
    name = _ERROR_TYPE.match(response.header("x-amzn-errortype") or "")
    return name[1] if name else ""


class AmazonResponse(WrappedResponse):
    """A response whose event stream is read as server-sent events."""

    def __init__(self, response: IncomingResponse) -> None:
        headers = [pair for pair in response.headers if not pair[0].startswith("content-")]
        super().__init__(response, [*headers, _SERVER_SENT_EVENTS])
        self._events = AmazonEvents()

    @property
    def is_complete(self) -> bool:
        """Whether all of the body has been read."""
        failure = self._failure or self._events.failure
        return failure is None and not self._events.inside and self._response.is_complete

    def read(
        self, on_data: Callable[[bytes], None] | None = None, beat: float | None = None
    ) -> bytes:
        """The next events, `b""` at the end; `on_data` and `beat` as in `UpstreamResponse.read`.
        Raises UpstreamFailure (InvalidAnswer if the stream cannot be decoded) and Silence."""
        events = self._read_mapped(self._decode, on_data, beat)
        if not events and self._events.inside:
            self._response.close()
            raise self._fail(Truncated())
        return events

    def _decode(self, data: bytes) -> bytes:
        """The events that `data` completes; a failure that follows them is set, not raised."""
        events = self._events.feed(data)
        if self._events.failure is not None:
            self._fail(invalid_answer(str(self._events.failure)))
        return events

    def _fail(self, failure: UpstreamFailure) -> UpstreamFailure:
        failure.request_sent = failure.response_started = True
        self._failure = failure
        return failure
