"""A response of an upstream with the edits of its transforms, before it is translated or relayed.

It wraps the response as soon as that arrives. Usage is read before the edits, which may remove it.
"""

from __future__ import annotations

from engine.dialects import Dialect
from engine.metering.readers import Reader, reader
from engine.relay.filter import Filter, unreadable
from engine.relay.response_headers import STALE_HEADERS
from engine.relay.sse import Cleaner
from engine.transforms.response_edits import (
    EditedJson,
    EventEditor,
    ResponseEditor,
)
from engine.upstream.client.response import IncomingResponse
from engine.upstream.responses.filtered_response import FilteredResponse
from engine.values.media_types import essence, is_json


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
