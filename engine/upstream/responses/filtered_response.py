"""A response whose body passes a filter: every layer of a response is one (see the table of this
room). The simplest is that of the edits of transforms, before a response is translated or relayed.

Edits wrap the response as soon as that arrives. Usage is read before them, as they may remove it.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.dialects import Dialect
from engine.exchange.member_protocols import Headers, Socket, UsageReader
from engine.metering.readers import Reader, reader
from engine.process.loop_turn import pacer
from engine.relay.filter import Filter, Unreadable, unreadable
from engine.relay.response_headers import STALE_HEADERS
from engine.relay.sse import Cleaner
from engine.transforms.response_edits import (
    EditedJson,
    EventEditor,
    ResponseEditor,
)
from engine.upstream.client.failures import InvalidAnswer, Silence, Truncated, UpstreamFailure
from engine.upstream.client.response import IncomingResponse
from engine.values.media_types import essence, is_json


class FilteredResponse:
    """An `IncomingResponse` that reads another one through a filter.

    `headers` replace the upstream's. `usage` reads the usage of the answer unless a layer below
    does.
    """

    length: int | None = None

    def __init__(
        self,
        response: IncomingResponse,
        headers: Headers,
        body: Filter,
        usage: UsageReader | None = None,
    ) -> None:
        self.status = response.status
        self.headers = headers
        self.usage = response.usage or usage
        self._response = response
        self._filter = body
        self._next = b""  # is read before anything else
        self._has_ended = False
        self._pace = pacer() if body.expands else None

    def header(self, name: str) -> str | None:
        """The first value of a header; its name in lower case."""
        for field, value in self.headers:
            if field == name:
                return value
        return None

    @property
    def is_complete(self) -> bool:
        """Whether all of the body has been read."""
        body = self._filter
        return self._has_ended and not body.has_more and not self._next and body.failure is None

    def read(
        self, on_data: Callable[[bytes], None] | None = None, beat: float | None = None
    ) -> bytes:
        """The next part of the body, `b""` at the end; `on_data` and `beat` as in
        `UpstreamResponse.read`. Raises UpstreamFailure (InvalidAnswer for an unreadable body),
        EventTooLarge, Silence, and the failures of the filter."""
        if self._next:
            data, self._next = self._next, b""
            return data
        is_silent, response, body = True, self._response, self._filter
        if self._pace is not None:
            self._pace()
        if body.has_more and (data := body.more()):
            return data
        pass_on = None if on_data is None or body.expands else _through(body, on_data)
        while body.failure is None and not self._has_ended:
            try:
                data = response.read(pass_on, beat)
            except Silence as silence:
                raise Silence(is_silent and silence.since_start) from None
            except UpstreamFailure:
                if not body.ended:
                    raise
                data = b""
            is_silent = False
            self._has_ended = not data or response.is_complete
            output = body.feed_last(data) if self._has_ended else body.feed(data)
            if output:
                return output
        response.close()
        if body.failure is not None:
            raise _raised(body.failure)
        return b""

    def unread(self, data: bytes) -> None:
        """Return `data`, which `read` has returned last, from the next `read` again."""
        self._next = data

    def end_with(self, body: bytes) -> None:
        """Replace what has not been read of the body."""
        self._next, self._has_ended = body, True

    def close(self) -> None:
        """Release the upstream's connection."""
        self._filter.close()
        self._response.close()

    def detach(self) -> tuple[Socket, bytes]:
        """The connection of a response that became a WebSocket."""
        return self._response.detach()


def _through(body: Filter, on_data: Callable[[bytes], None]) -> Callable[[bytes], None]:
    """`on_data` behind a filter. Raises what that raises, and the failures of the filter."""
    feed = body.feed

    def pass_on(data: bytes) -> None:
        if output := feed(data):
            on_data(output)
        if body.failure is not None:
            raise _raised(body.failure)

    return pass_on


def _raised(failure: Exception) -> Exception:
    """The failure of a filter as reading raises it."""
    if isinstance(failure, EOFError):
        return Truncated().after_start()
    if isinstance(failure, Unreadable):
        return InvalidAnswer(str(failure)).after_start()
    return failure


def edited_response(
    response: IncomingResponse, editor: ResponseEditor, method: str, dialect: Dialect
) -> FilteredResponse:
    """The response to a request of `method` with its edits. `dialect` is that of the upstream."""
    content_type = response.header("content-type") or ""
    headers = editor.headers(response.headers)
    if not editor.edits_body(method, response.status, content_type):
        edited = FilteredResponse(response, headers, Filter())
        edited.length = response.length
        return edited
    headers = [pair for pair in headers if pair[0] not in STALE_HEADERS]
    encoding = response.header("content-encoding") or ""
    body: Filter
    if is_json(content_type):
        usage_reader = reader(dialect.meter, essence(content_type), encoding)
        body = EditedJson(editor, encoding, usage_reader.feed)
    else:
        usage_reader = reader(dialect.meter, essence(content_type))
        body = _EditedEvents(editor, usage_reader, Cleaner(dialect.stream))
        if encoding not in ("", "identity"):
            body = unreadable("the upstream's stream is encoded, so that it cannot be edited")
    return FilteredResponse(response, headers, body, usage_reader)


class _EditedEvents(EventEditor):
    """Events after the edits, whose usage is read before."""

    def __init__(self, editor: ResponseEditor, usage_reader: Reader, cleaner: Cleaner) -> None:
        super().__init__(editor)
        self._reader = usage_reader
        self._cleaner = cleaner

    def feed(self, data: bytes) -> bytes:
        self._reader.feed(self._cleaner.feed(data))
        return super().feed(data)

    def finish(self) -> bytes:
        self._reader.feed(self._cleaner.finish())
        return super().finish()
