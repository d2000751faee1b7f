"""A response of an upstream with the edits of its transforms, before it is translated or relayed.

It wraps the response as soon as that arrives. Usage is read before the edits, which may remove it.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.dialects import Dialect
from engine.metering.readers import reader
from engine.relay.sse import Cleaner
from engine.spec.media_types import essence, is_json
from engine.transforms.response_edits import (
    MAX_EDITED,
    STALE_HEADERS,
    EventEditor,
    ResponseEditor,
)
from engine.upstream.client.response import IncomingResponse
from engine.upstream.translated_errors import invalid_answer
from engine.upstream.wrapped_response import WrappedResponse


class EditedResponse(WrappedResponse):
    """`usage` reads the usage that the upstream reports, None if the body is not edited. `dialect`
    is that of the upstream."""

    def __init__(
        self, response: IncomingResponse, editor: ResponseEditor, method: str, dialect: Dialect
    ) -> None:
        content_type = response.header("content-type") or ""
        edits_body = editor.edits_body(method, response.status, content_type)
        super().__init__(response, editor.headers(response.headers))
        self.length = response.length
        self._json = editor.json
        self._events: EventEditor | None = None
        self._whole = edits_body and is_json(content_type)
        if not edits_body:
            return
        self.length = None
        self.headers = [pair for pair in self.headers if pair[0] not in STALE_HEADERS]
        encoding = self._encoding if self._whole else ""
        self._reader = reader(dialect.meter, essence(content_type), encoding)
        self.usage = self.usage or self._reader
        if not self._whole:
            self._events = EventEditor(editor)
            self._clean = Cleaner(dialect.stream).feed

    @property
    def is_complete(self) -> bool:
        """Whether all of the body has been read."""
        return not self._whole and self._response.is_complete

    def read(
        self, on_data: Callable[[bytes], None] | None = None, beat: float | None = None
    ) -> bytes:
        """The next part of the body, `b""` at the end; `on_data` and `beat` as in
        `UpstreamResponse.read`. Raises UpstreamFailure (also InvalidAnswer), EventTooLarge and
        Silence."""
        if self._whole:
            text = self._read_all(MAX_EDITED, beat, self._reader.feed)
            self._whole = False
            return self._json(text)
        if self._events is None:
            return self._response.read(on_data, beat)
        if self._encoding not in ("", "identity"):
            raise invalid_answer("the upstream's stream is encoded, so that it cannot be edited")
        return self._read_mapped(self._edit, on_data, beat) or self._events.finish()

    def _edit(self, data: bytes) -> bytes:
        assert self._events is not None
        self._reader.feed(self._clean(data))
        return self._events.feed(data)
