"""Edits of responses: their headers, whole JSON bodies, and the JSON of each event of a stream."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import orjson

from engine.exchange.member_protocols import Headers
from engine.process.loop_turn import await_turn, paced, paced_if_many
from engine.relay.filter import Filter
from engine.relay.whole_body import Correction, WholeBody, has_whole_body
from engine.transforms.places import TooDeep
from engine.transforms.template import TemplateValues
from engine.transforms.transform import Transform
from engine.values.errors import EventTooLarge
from engine.values.event_json import LONG_EVENT, event_ends, long_data
from engine.values.json_document import JsonDocument
from engine.values.json_spans import Ambiguous
from engine.values.media_types import essence, is_json

MAX_EDITED = 32_000_000
"""Bytes of a JSON body, or of one event, that can be edited."""

_EVENT_END = re.compile(rb"\r?\n\r?\n|\r\r")
_MAX_END = 4
_DATA = re.compile(rb"^data:[ ]?([^\r\n]*)", re.MULTILINE)
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")


class BodyEditor(Protocol):
    """Edits a response: its headers, and the JSON of its body or of each event."""

    def headers(self, headers: Headers, /) -> Headers: ...

    def edits_body(self, method: str, status: int, content_type: str, /) -> bool: ...

    def json(self, text: bytes, /) -> bytes: ...

    def outcome(self) -> Any:
        """What the edits of a body have found, for `settle`: they may run in another process."""

    def settle(self, outcome: Any, /) -> Correction | None:
        """In the worker: do what follows from it. Returns what has to be corrected then."""


def edits_bodies(transforms: Iterable[Transform]) -> bool:
    """Whether any of the transforms edits bodies of responses."""
    return any(transform.response and transform.response.body for transform in transforms)


class ResponseEditor:
    """The edits of one response by several transforms, in their order."""

    def __init__(self, transforms: Sequence[Transform], values: TemplateValues) -> None:
        self._edits = [transform.response for transform in transforms if transform.response]
        self._bodies = [edits.body for edits in self._edits if edits.body]
        self._values = values
        self._names = _names(transforms)

    def headers(self, headers: Headers) -> Headers:
        """The headers after the edits. Raises GatewayError 400 for a value that is not valid in a
        header."""
        for edits in self._edits:
            if edits.header:
                headers = edits.header.apply(headers, self._values, request=False)
        return headers

    def edits_body(self, method: str, status: int, content_type: str) -> bool:
        """Whether the body of a response is edited: JSON or events, of a success that is not
        partial."""
        if not self._bodies or not has_whole_body(method, status):
            return False
        return is_json(content_type) or essence(content_type) == "text/event-stream"

    def json(self, text: bytes) -> bytes:
        """A JSON text after the edits. Text that is not JSON, has a repeated member at an edited
        place, or is nested too deeply is returned unchanged."""
        if self._names is not None and not any(name in text for name in self._names):
            return text
        try:
            document = JsonDocument.parse(text)
            for edits in self._bodies:
                edits.apply(document, self._values)
        except (orjson.JSONDecodeError, Ambiguous, TooDeep):
            return text
        return document.text

    def outcome(self) -> None:
        """Nothing is found."""

    def settle(self, outcome: None) -> None:
        """Nothing follows."""


def _names(transforms: Sequence[Transform]) -> list[bytes] | None:
    """The member names, quoted, of which a body must have one to be edited at all; None if the
    edits may add members."""
    names = [rb"\u00"]  # a name may be written with escapes
    for transform in transforms:
        edits = transform.response.body
        if edits.default or edits.set or edits.prepend or edits.append:
            return None
        for place in (*edits.remove, *(old for old, _ in edits.rename)):
            if _PLAIN.fullmatch(place.steps[-1]) is None:
                return None
            names.append(b'"' + place.steps[-1].encode() + b'"')
    return names


class EditedJson(WholeBody):
    """A JSON text after the edits."""

    def __init__(
        self,
        editor: BodyEditor,
        encoding: str = "",
        observe: Callable[[bytes], None] = lambda data: None,
    ) -> None:
        super().__init__(MAX_EDITED, encoding, observe)
        self._editor = editor

    def change(self, text: bytes) -> bytes:
        return self._editor.json(text)

    def outcome(self) -> Any:
        return self._editor.outcome()

    def settle(self, outcome: Any) -> Correction | None:
        return self._editor.settle(outcome)


class EventEditor(Filter):
    """Edits the JSON of each event of a stream, whose bytes arrive in any pieces. Everything except
    the data of an edited event passes unchanged."""

    def __init__(self, editor: BodyEditor) -> None:
        self._json = editor.json
        self._partial_event = io.BytesIO()
        self._last = b""  # bytes of it, with which an end may begin

    def feed(self, data: bytes) -> bytes:
        """The events that `data` completes. Raises EventTooLarge."""
        if self._last and _EVENT_END.search(last := self._last + data) is None:
            return self._keep(data, last)
        partial_event = self._take()
        searched = max(len(partial_event) - _MAX_END + 1, 0)
        data = partial_event + data if partial_event else data
        if len(data) > LONG_EVENT and data.find(b"\r") < 0:
            return self._feed_long(data, searched)
        at = 0
        events = []
        for end in paced_if_many(_EVENT_END.finditer(data, searched), len(data)):
            events.append(self._event(data[at : end.end()]))
            at = end.end()
        self._keep(data[at:], data[at:])
        return b"".join(events)

    def _feed_long(self, data: bytes, searched: int) -> bytes:
        """As `feed`, with data of which no end is before `searched`: an event of megabytes, or
        thousands. The loop has turns between the steps over them."""
        at = 0
        events = []
        for end in paced(event_ends(data, searched)):
            event = data[at:end]
            events.append(self._long_event(event) if end - at > LONG_EVENT else self._event(event))
            at = end
        rest = data[at:]
        self._keep(rest, rest)
        await_turn()
        return b"".join(events)

    def _long_event(self, event: bytes) -> bytes:
        await_turn()
        spans = long_data(event)
        if not spans:
            return event
        text = b"\n".join([event[start:end] for start, end in spans])
        await_turn()
        edited = self._json(text) if text else text
        await_turn()
        if edited is text or edited == text:
            return event
        if edited.find(b"\n") >= 0:
            edited = edited.replace(b"\n", b"\ndata: ")
        return b"".join((event[: spans[0][0]], edited, event[spans[-1][1] :]))

    def _keep(self, data: bytes, last: bytes) -> bytes:
        """Keep the next bytes of an event that is not complete. What has arrived is not copied."""
        self._last = last[1 - _MAX_END :]
        if self._partial_event.tell() + len(data) > MAX_EDITED:
            raise EventTooLarge(f"an event of more than {MAX_EDITED} bytes")
        self._partial_event.write(data)
        return b""

    def _take(self) -> bytes:
        """The bytes that were kept."""
        data = self._partial_event.getvalue()
        if data:
            self._partial_event = io.BytesIO()
        return data

    def finish(self) -> bytes:
        """The bytes after the last complete event, edited if they are an event."""
        return self._event(self._take())

    def _event(self, event: bytes) -> bytes:
        lines = list(_DATA.finditer(event))
        text = b"\n".join([line[1] for line in lines])
        edited = self._json(text) if text else text
        if edited == text:
            return event
        data = b"\n".join(b"data: " + line for line in edited.splitlines())
        return event[: lines[0].start()] + data + event[lines[-1].end() :]
