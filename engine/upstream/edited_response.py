"""A response of an upstream with the edits of its transforms, before it is translated or relayed.

It takes the place of the response where that comes in. What the upstream reports of usage is read
before an edit can hide it.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.dialects import Dialect
from engine.exchange.interfaces import Socket
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
from engine.values.content_coding import decode_body


class EditedResponse:
    """A response as `IncomingResponse`. `usage` reads what the upstream reports, None where the
    body passes as it is. `dialect` is that of the upstream."""

    def __init__(
        self, response: IncomingResponse, editor: ResponseEditor, method: str, dialect: Dialect
    ) -> None:
        content_type = response.header("content-type") or ""
        edits_body = editor.edits_body(method, response.status, content_type)
        self.status = response.status
        self.headers = editor.headers(response.headers)
        self.length = response.length
        self.usage = None
        self._response = response
        self._json = editor.json
        self._encoding = response.header("content-encoding") or ""
        self._events: EventEditor | None = None
        self._whole = edits_body and is_json(content_type)
        if not edits_body:
            return
        self.length = None
        self.headers = [pair for pair in self.headers if pair[0] not in STALE_HEADERS]
        self.usage = reader(dialect.meter, essence(content_type))
        if not self._whole:
            self._events = EventEditor(editor)
            self._clean = Cleaner(dialect.stream).feed

    def header(self, name: str) -> str | None:
        """The first value of a header, its name in any case."""
        low = name.lower()
        return next((value for field, value in self.headers if field == low), None)

    @property
    def is_complete(self) -> bool:
        """Whether all of the body has been read."""
        return not self._whole and self._response.is_complete

    def read(
        self, passing: Callable[[bytes], None] | None = None, beat: float | None = None
    ) -> bytes:
        """The next part of the body, `b""` at the end; `passing` and `beat` as in
        `UpstreamResponse.read`. Raises UpstreamFailure, InvalidAnswer among them, EventTooLarge and
        Silence."""
        if self._whole:
            self._whole = False
            return self._read_whole(beat)
        if self._events is None:
            return self._response.read(passing, beat)
        if self._encoding not in ("", "identity"):
            raise invalid_answer("the upstream's stream is encoded, so that it cannot be edited")
        edit = None if passing is None else self._edit_for(passing)
        while data := self._response.read(edit, beat):
            if edited := self._edit(data):
                return edited
        return self._events.finish()

    def close(self) -> None:
        """Release the upstream's connection."""
        self._response.close()

    def detach(self) -> tuple[Socket, bytes]:
        """The connection of a response that became a WebSocket."""
        return self._response.detach()

    def _edit_for(self, passing: Callable[[bytes], None]) -> Callable[[bytes], None]:
        """`passing` for the bytes of the stream."""

        def edit(data: bytes) -> None:
            if edited := self._edit(data):
                passing(edited)

        return edit

    def _edit(self, data: bytes) -> bytes:
        assert self.usage is not None
        assert self._events is not None
        self.usage.feed(self._clean(data))
        return self._events.feed(data)

    def _read_whole(self, beat: float | None) -> bytes:
        """All of a JSON body, edited."""
        assert self.usage is not None
        received = bytearray()
        while data := self._response.read(beat=beat):
            received += data
            if len(received) > MAX_EDITED:
                raise invalid_answer(f"the upstream's answer has over {MAX_EDITED} bytes")
        text = decode_body(self._encoding, bytes(received))
        if text is None:
            raise invalid_answer("the upstream's answer is encoded, so that it cannot be edited")
        self.usage.feed(text)
        return self._json(text)
