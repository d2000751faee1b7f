"""Makes the messages of a turn from the server-sent events of its response.

The law: a message is the JSON of one event. `[DONE]` and comments are no messages. An error of a
stream, which may be flat there, is nested and gets a `status`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import orjson

from engine.dialects import Dialect
from engine.sockets.messages import error_message, with_stream_id
from engine.values.event_json import event_json, split_events
from engine.values.trees import Json

_LAST = (b"event: response.completed", b"event: response.incomplete", b"event: response.failed")
_ITEM = b"event: response.output_item.done"
_TYPED = b"event: response."
_DATA = b"\ndata: "
_TYPE = re.compile(rb'"type"\s*+:\s*+"response\.')
_LAST_TYPES = frozenset({"response.completed", "response.incomplete", "response.failed"})

OnEnd = Callable[[Json], None]
"""Called with the last event of a response, before it is a message."""


class EventMessages:
    """Takes the events of a response as they arrive, in any pieces, and returns messages.

    `on_end` gets the last event, whose output is that of the items before it if it has none itself.
    `has_ended`: the last event, or an error, has passed.
    """

    def __init__(self, dialect: Dialect, stream_id: str, on_end: OnEnd) -> None:
        self._dialect = dialect
        self._stream_id = stream_id
        self._on_end = on_end
        self._partial = bytearray()
        self._items: list[bytes] = []
        self.has_ended = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The messages of the events that these bytes complete."""
        if self._partial:
            searched = len(self._partial) - 1
            self._partial += data
            if self._partial.find(b"\n\n", searched) < 0:
                return
            data, self._partial = bytes(self._partial), bytearray()
        for event in split_events(data):
            if not event.endswith(b"\n\n"):
                self._partial += event
            elif (message := self._message(event)) is not None:
                yield with_stream_id(message, self._stream_id)

    def _message(self, event: bytes) -> bytes | None:
        """The message of one event, None for an event that is none."""
        start = event.find(_DATA)
        is_plain = (
            start > 0
            and event.startswith(_TYPED)
            and event.find(b"\n", start + 1) == (len(event) - 2)
            and _TYPE.search(event, start) is not None
        )
        if not is_plain:
            return self._of_other(event)
        if event.startswith(_LAST):
            self._end(event_json(event))
        elif event.startswith(_ITEM):
            self._items.append(event)
        return event[start + len(_DATA) : -2]

    def _of_other(self, event: bytes) -> bytes | None:
        """The message of an event that is not written as most are: without a name, with its type
        only there, in several lines, or an error."""
        document = event_json(event)
        if not isinstance(document, dict):
            return None
        kind = document.get("type")
        is_error = self._dialect.is_error(document)  # its own, with `response.failed` for streams
        if isinstance(kind, str) and kind.startswith("response.") and not is_error:
            if kind in _LAST_TYPES:
                self._end(document)
            elif kind == "response.output_item.done":
                self._items.append(event)
            return orjson.dumps(document)
        if self._dialect.is_error_event(document) or kind == "error":
            self.has_ended = True
            return self._error(document)
        return orjson.dumps(document) if kind else None

    def _end(self, document: object) -> None:
        self.has_ended = True
        response = document.get("response") if isinstance(document, dict) else None
        if not isinstance(document, dict) or not isinstance(response, dict):
            return
        if not response.get("output") and self._items:
            events = map(event_json, self._items)
            items = [
                event["item"] for event in events if isinstance(event, dict) and "item" in event
            ]
            document = {**document, "response": {**response, "output": items}}
        self._on_end(document)

    def _error(self, document: Json) -> bytes:
        read = self._dialect.stream_error(document)
        if read is not None:
            return error_message(read.status, read.document["error"])
        error = document.get("error")
        details = error if isinstance(error, dict) else document
        members = {"type": "server_error", "code": None, "message": "", "param": None}
        members |= {name: details[name] for name in members if name in details and name != "type"}
        return error_message(502, members)
