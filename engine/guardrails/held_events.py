"""Events of a stream that are held until a guard has judged them.

The texts of events that continue each other (deltas of one part of an answer) are judged as one
text, in windows. The end of a window is held and judged again with the next one, so that what is
split between two is found. In a window with a replaced text, that stands in the first event of the
text, up to what is held, and the others in between are empty. Thousands of events may be held:
the event loop has its turns between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
import orjson

from engine.dialects.interface.streams import END_MARKER
from engine.dialects.interface.usage import OutputMembers
from engine.guardrails.texts import answer_texts
from engine.process.loop_turn import await_turn, paced
from engine.values.event_json import LONG_EVENT, long_data, split_events
from engine.values.json_document import JsonDocument
from engine.values.json_edit import apply_edits, edits
from engine.values.json_pointer import pointer
from engine.values.json_spans import JsonPath

MAX_HELD = 4_000_000
MAX_EVENTS = 10_000
"""Bytes, and the number, of events that are held: more are judged at once. An event takes 300
bytes of memory beside its own."""

_DATA = re.compile(rb"^data:[ ]?([^\n]*)", re.MULTILINE)
_INDEXES = ("index", "output_index", "content_index", "summary_index", "contentBlockIndex")

_Channel = tuple[object, ...]


@dataclass(slots=True)
class _Event:
    """An event: its bytes, its JSON, None for none, and its texts by their paths, of which those of
    `changes` were replaced. `is_unread`: it has data that is not JSON."""

    raw: bytes
    document: JsonDocument | None = None
    is_unread: bool = False
    texts: dict[JsonPath, str] = field(default_factory=dict)
    changes: dict[JsonPath, bytes | None] = field(default_factory=dict)

    def set(self, path: JsonPath, text: str) -> None:
        """Replace a text."""
        self.texts[path] = text
        self.changes[path] = orjson.dumps(text)

    def encoded(self) -> bytes:
        """The event as it is sent."""
        if self.document is None or not self.changes:
            return self.raw
        spans = _data_spans(self.raw)
        text = apply_edits(self.document.text, edits(self.document.text, self.changes))
        return b"".join((self.raw[: spans[0][0]], text, self.raw[spans[-1][1] :]))


@dataclass(slots=True)
class _Text:
    """A text of several events: the places of its pieces."""

    pieces: list[tuple[int, JsonPath]] = field(default_factory=list)


class HeldEvents:
    """The events that wait for a verdict. `output` are the members of output of their dialect, None
    if it counts none."""

    def __init__(self, output: OutputMembers | None) -> None:
        self._output = output
        self._events: list[_Event] = []
        self._size = 0
        self._characters = 0  # of texts that were not judged yet
        self._is_unread = False

    @property
    def characters(self) -> int:
        """Characters of texts that have not been judged."""
        return self._characters

    @property
    def is_unread(self) -> bool:
        """Whether an event is held that cannot be judged."""
        return self._is_unread

    @property
    def is_full(self) -> bool:
        """Whether no more should be held."""
        return self._size > MAX_HELD or len(self._events) > MAX_EVENTS

    def add(self, data: bytes) -> bytes:
        """Hold whole events. Returns those that need not be held: before the first text."""
        textless = []
        for raw in paced(split_events(data)):
            event = self._read(raw)
            if not (self._events or event.texts or event.is_unread):
                textless.append(event.raw)
                continue
            self._events.append(event)
            self._size += len(event.raw)
            self._is_unread = self._is_unread or event.is_unread
            self._characters += sum(map(len, event.texts.values()))
        return b"".join(textless)

    def texts(self) -> dict[str, str]:
        """The texts of the window, each by the pointer of its first piece, in the list of the held
        events."""
        return {
            self._pointer(text): "".join(self._events[at].texts[path] for at, path in text.pieces)
            for text in self._joined()
        }

    def replace(self, texts: Mapping[str, str], overlap: int) -> None:
        """Replace texts of the window; their last `overlap` characters stay in their last event."""
        for text in self._joined():
            new = texts.get(self._pointer(text))
            if new is None:
                continue
            (first, path), *others = text.pieces
            tail = new[-overlap:] if others and overlap and len(new) > overlap else ""
            self._events[first].set(path, new[: len(new) - len(tail)])
            for at, place in others:
                self._events[at].set(place, "")
            if tail:
                self._events[others[-1][0]].set(others[-1][1], tail)

    def release(self, overlap: int) -> bytes:
        """The events that have been judged, but for the last that have `overlap` characters."""
        end, characters = len(self._events), 0
        for event in paced(reversed(self._events)):
            if characters >= overlap:
                break
            end -= 1
            characters += sum(map(len, event.texts.values()))
        if characters < overlap:  # all of it is shorter: what is not judged again could be split
            end = 0
        events, self._events = self._events[:end], self._events[end:]
        self._size = sum(len(event.raw) for event in paced(self._events))
        self._is_unread = any(event.is_unread for event in self._events)
        self._characters = 0
        return b"".join([event.encoded() for event in paced(events)])

    def _read(self, raw: bytes) -> _Event:
        if len(raw) > LONG_EVENT:
            text = b"\n".join([raw[start:end] for start, end in long_data(raw)])
            await_turn()  # it was copied, and is parsed
        else:
            text = b"\n".join(_DATA.findall(raw))
        try:
            document = _long_json(text) if len(text) > LONG_EVENT else JsonDocument.parse(text)
        except orjson.JSONDecodeError:
            return _Event(raw, is_unread=text.strip() not in (b"", END_MARKER))
        return _Event(raw, document, texts=answer_texts(document.value, self._output))

    def _joined(self) -> Iterable[_Text]:
        """The texts of the window, with the pieces of each."""
        texts: dict[_Channel, _Text] = {}
        for at, event in enumerate(paced(self._events)):
            for path in event.texts:
                assert event.document is not None
                channel = tuple(_channel(event.document.value, path))
                texts.setdefault(channel, _Text()).pieces.append((at, path))
        return list(texts.values())

    @staticmethod
    def _pointer(text: _Text) -> str:
        at, path = text.pieces[0]
        return pointer([str(at), *map(str, path)])


def _long_json(text: bytes) -> JsonDocument:
    """As `JsonDocument.parse`: msgspec takes half the time for a text of megabytes, which it does
    not copy first. Raises orjson.JSONDecodeError."""
    try:
        return JsonDocument(text, msgspec.json.decode(text))
    except (ValueError, RecursionError):
        return JsonDocument.parse(text)


def _data_spans(raw: bytes) -> list[tuple[int, int]]:
    """Where the data of each line of an event begins and ends."""
    if len(raw) > LONG_EVENT:
        return long_data(raw)
    return [line.span(1) for line in _DATA.finditer(raw)]


def _channel(document: Any, path: JsonPath) -> Iterator[object]:
    """What is equal for texts that continue each other: the type of their events, their paths, and
    the indexes on the way, in place of positions."""
    value = document
    if isinstance(value, dict):
        yield value.get("type")
    for step in path:
        if isinstance(value, dict):
            yield tuple(value.get(name) for name in _INDEXES)
            yield step
        value = value[step]
        if isinstance(step, int) and not (isinstance(value, dict) and "index" in value):
            yield step
