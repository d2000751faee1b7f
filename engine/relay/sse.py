"""Relays server-sent events one by one, without the parts at which vendors' SDKs fail.

The law, measured on the official SDKs: an event is passed on only if it has data. `id` and `retry`
lines, a byte order mark and empty `data:` lines are removed. Comments between events, event names
and `[DONE]` pass if the dialect's `StreamRules` allow them. A field `error` with JSON is an event
with that error. A text that only keeps the connection alive becomes a comment. Bytes that are
already clean pass unchanged.
"""

from __future__ import annotations

import io
import re
from functools import cache

from engine.dialects.interface.streams import DEFAULT_RULES, END_MARKER, StreamRules
from engine.process.loop_turn import paced_if_many
from engine.relay.event_data import ALIVE, ALIVE_DATA, amended, is_whole, keeps_alive
from engine.relay.filter import Filter
from engine.values.errors import EventTooLarge
from engine.values.event_json import LONG_EVENT, json_or_none

MAX_EVENT = 16_000_000
"""The most bytes of one event; images are sent as events of several megabytes."""

_MAX_LINES = 10_000
_BEGINNING = 1_024
"""Bytes of events by whose lines a long one is known to be clean."""
_LONG_LINE = 65_536
_UNREAD = (b":", b"id:", b"retry:")
"""The beginnings of lines of which more bytes than `_LONG_LINE` are not kept."""
_MAX_UNREAD = max(map(len, _UNREAD))
_FIELD = re.compile(rb"[A-Za-z][\w-]*:")
_FIELD_START = re.compile(rb"^(?:event|data)\b", re.MULTILINE)
_BOM = b"\xef\xbb\xbf"

_CR = 0x0D
_BLANK = _BOM + b"\x00 \t"


class NotAnEvent(Exception):
    """Text in a stream that is not an event: JSON, HTML or text without `data:`, or a truncated
    event at its end. `document` is its JSON value; of an array, the first item. `status` is the
    HTTP status of an error that a translation has read, else 0."""

    def __init__(self, text: bytes, status: int = 0) -> None:
        super().__init__("the upstream's stream broke off with something that is not an event")
        self.text, self.status = text, status
        document = json_or_none(text)
        if document is None:  # an item of an array
            document = json_or_none(text.strip(b",[] \t\r\n"))
        if isinstance(document, list) and document:
            document = document[0]
        self.document = document

    def __reduce__(self) -> tuple[type, tuple[bytes, int]]:
        """For pickle: an answer may be read in another process (`process/computation.py`)."""
        return type(self), (self.text, self.status)


class _PartialEvent:
    """The bytes of an event that is not complete. They are not copied when it is. Of a long line
    that nobody reads the rest is not kept: to copy megabytes of it takes the loop milliseconds."""

    __slots__ = ("_bytes", "_ends_line", "_line", "_skips_line")

    def __init__(self) -> None:
        self._bytes = io.BytesIO()
        self._ends_line = False
        self._line = 0  # where the last line begins
        self._skips_line = False

    def __len__(self) -> int:
        return self._bytes.tell()

    def completed_by(self, data: bytes) -> bytes:
        """Add the next bytes. Returns all up to the end of the last event that is complete, `b""`
        for none, and keeps the others."""
        if self._skips_line:
            data = data[data.find(b"\n") :] if data.find(b"\n") >= 0 else b""
            self._skips_line = not data
        end = data.rfind(b"\n\n") + 2
        if end < 2:
            end = 1 if self._ends_line and data[:1] == b"\n" else 0
        events = b""
        if end:
            self._bytes.write(data[:end])
            events, data = self.take(), data[end:]
        if data:
            if (last := data.rfind(b"\n")) >= 0:
                self._line = len(self) + last + 1
            self._bytes.write(data)
            self._ends_line = data[-1:] == b"\n"
            if len(self) - self._line > _LONG_LINE:
                self._bytes.seek(self._line)
                self._skips_line = self._bytes.read(_MAX_UNREAD).startswith(_UNREAD)
                self._bytes.seek(0, io.SEEK_END)
        return events

    def take(self) -> bytes:
        """All bytes, which are not kept."""
        data = self._bytes.getvalue()
        self._bytes, self._ends_line = io.BytesIO(), False
        self._line, self._skips_line = 0, False
        return data


class Cleaner(Filter):
    """Takes bytes as they arrive and returns whole clean events.

    Text that is not an event is its failure. Lines of unknown fields are dropped if an event
    follows (HTML standard 9.2.6); at the end of a stream they are such text.
    """

    failure: NotAnEvent | None = None

    def __init__(self, rules: StreamRules = DEFAULT_RULES) -> None:
        self._rules = rules
        self._clean = _clean_events(rules)
        self._buffer = _PartialEvent()
        self._skip_lf = False
        self._started = False
        self._is_at_event = False
        """Whether the next bytes begin an event that is not the first: nothing waits."""
        self._unknown_lines = b""  # lines of unknown fields since the last event
        self._is_odd = False

    def mend(self, first: bytes) -> bytes:
        """The `first` events without the oddity of the rules; all that follow are without it if
        these have it."""
        self._is_odd = (
            self._rules.oddity is not None and self._rules.oddity.search(first) is not None
        )
        self._is_at_event = self._is_at_event and not self._is_odd
        return self._mended(first)

    def _mended(self, events: bytes) -> bytes:
        oddity = self._rules.oddity
        return (
            events if oddity is None or not self._is_odd else oddity.sub(self._rules.remedy, events)
        )

    def feed(self, data: bytes) -> bytes:
        """The events that `data` completes, cleaned; `b""` when it completes none."""
        if self._is_at_event and _CR not in data and self._clean.fullmatch(data):
            return data
        events = self._completed(data)
        self._is_at_event = self._started and not self._buffer and not self._is_odd
        return self._mended(events)

    def _completed(self, data: bytes) -> bytes:
        if self.failure is not None:
            return b""
        data = self._line_feeds(data)
        if not self._started and (self._buffer or data):
            data = self._without_bom(data)
        if not self._buffer and self._clean.fullmatch(data):
            self._unknown_lines = b""
            return data
        events = self._buffer.completed_by(data)
        if not events and len(self._buffer) > MAX_EVENT:
            raise EventTooLarge(f"an event of more than {MAX_EVENT} bytes")
        return self._events(events) if events else b""

    def _events(self, data: bytes) -> bytes:
        if len(data) > LONG_EVENT and self._is_clean(data):
            self._unknown_lines = b""
            self._started = True
            return data
        if len(data) <= LONG_EVENT and self._clean.fullmatch(data):
            self._unknown_lines = b""
            return data
        events = []
        for block in paced_if_many(data.split(b"\n\n"), len(data)):
            if block and (event := self._event(block)):
                events.append(event)
                self._unknown_lines = b""
            if self.failure is not None:
                break
        # Until an event follows, the first fast path of `feed` is off.
        self._started = not self._unknown_lines and self.failure is None
        return b"".join(events)

    def _is_clean(self, data: bytes) -> bool:
        """Whether all events are clean, of which a long one begins near the start, and those behind
        it are short: the long one is not copied then."""
        end = data.find(b"\n", _BEGINNING)
        if data[end : end + 2] != b"\n\n":
            return False
        rest = data[end + 2 :]
        if rest and (len(rest) > LONG_EVENT or self._clean.fullmatch(rest) is None):
            return False
        return self._clean.fullmatch(data[:_BEGINNING] + b"\n\n") is not None

    def finish(self) -> bytes:
        """The last event of a stream that ended without a blank line, completed; a truncated event
        is a failure."""
        block = self._buffer.take()
        if self.failure is not None:
            return b""
        if not block.strip():
            if self._unknown_lines:
                self.failure = NotAnEvent(self._unknown_lines)
            return b""
        event = self._event(block.rstrip(b"\n"))
        if self.failure is None and (self._unknown_lines or _is_truncated(block)):
            self.failure, event = NotAnEvent(block), b""
        return self._mended(event)

    def _line_feeds(self, data: bytes) -> bytes:
        """Replace all line ends (CR, LF, CRLF) by LF, also for a CRLF split between two reads."""
        if self._skip_lf and data:
            data = data.removeprefix(b"\n")
            self._skip_lf = False
        if data:
            self._skip_lf = data[-1:] == b"\r"
        if data.find(_CR) >= 0:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return data

    def _without_bom(self, data: bytes) -> bytes:
        data = self._buffer.take() + data
        if len(data) < len(_BOM) and _BOM.startswith(data):
            self._buffer.completed_by(data)
            return b""
        self._started = True
        return data.removeprefix(_BOM)

    def _event(self, block: bytes) -> bytes:
        if block.startswith(b"data: {") and block.find(b"\n") < 0:
            return block + b"\n\n"
        if block.startswith(b"event: ") and self._clean.fullmatch(block + b"\n\n"):
            return block + b"\n\n"
        if block.count(b"\n") > _MAX_LINES:
            raise EventTooLarge(f"an event of more than {_MAX_LINES} lines")
        name = b""
        names: list[bytes] = []  # before each line of data
        data: list[bytes] = []
        comments: list[bytes] = []
        unknown: list[bytes] = []
        for line in block.split(b"\n"):
            line = line.lstrip(_BLANK)
            field, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if field == b"data":
                data.append(value)
                names.append(name)
            elif field == b"event":
                name = value
            elif field == b"error" and is_whole(value):  # llama.cpp
                names = [b""]
                data = [value if value.find(b'"error"') >= 0 else b'{"error":%b}' % value]
            elif not field and line:
                comments.append(line)
            elif line.strip() == END_MARKER:
                data.append(END_MARKER)
                names.append(b"")
            elif line.strip() and field not in (b"id", b"retry"):
                unknown.append(line)
        if any(map(_is_foreign, unknown)):
            self.failure = NotAnEvent(b"\n".join(unknown))
        elif unknown and not data:
            self._unknown_lines = block
        if len(data) > 1 and all(map(is_whole, data)):  # one line end between two events
            return b"".join(map(self._event, map(_block, names, data)))
        if not any(line.strip() for line in data):
            return self._comments(comments)
        if len(data) == 1 and keeps_alive(name, data[0]):
            return self._comments([*comments, b": keep-alive"])
        data = amended(data)
        if not self._rules.end_marker and data == [END_MARKER]:
            return b""
        return self._event_of(name, data)

    def _event_of(self, name: bytes, data: list[bytes]) -> bytes:
        if not self._rules.names:
            return b"data: " + b" ".join(data) + b"\n\n"
        head = b"event: " + name + b"\n" if name else b""
        return head + b"".join(b"data: " + line + b"\n" for line in data) + b"\n"

    def _comments(self, lines: list[bytes]) -> bytes:
        return b"\n".join(lines) + b"\n\n" if lines and self._rules.comments else b""


@cache
def _clean_events(rules: StreamRules) -> re.Pattern[bytes]:
    """Matches events that pass unchanged, in bytes without a CR: each has one line of data, after
    its name if names are allowed. Data that `amended` may change is not matched."""
    name = rb"(?:event: (?!%b\ndata: [^{\[])[^\n]+\n)?" % ALIVE if rules.names else rb""
    # Nearly all data begins with a brace, and no other way may match one: with two ways for each
    # event, those before one that is not complete would be tried in 2^n ways.
    marker = rb"\[DONE\](?=\n)|" if rules.end_marker else rb""
    first = rb"(?:\{|%b(?!%b)[^\s{\[\"dDn])" % (marker, ALIVE_DATA.pattern)
    # The outer + is not possessive: before Python 3.11.5 one that fails keeps what its last round
    # began (gh-106052), so that half an event would pass.
    return re.compile(rb"(?:" + name + rb"data: " + first + rb"[^\n]*+\n\n)+")


def _is_truncated(block: bytes) -> bool:
    """Whether the last lines of a stream are a truncated event: its data is not JSON, or it has
    none."""
    data = [line[5:].strip() for line in block.split(b"\n") if line.startswith(b"data:")]
    text = b"\n".join(data).strip()
    if not text:
        return _FIELD_START.search(block) is not None
    if len(data) > 1 and is_whole(data[-1]):
        return False
    return text != END_MARKER and json_or_none(text) is None


def _block(name: bytes, line: bytes) -> bytes:
    """The lines of an event with one line of data. The end marker has no name."""
    is_named = name and line.strip() != END_MARKER
    return b"event: %b\ndata: %b" % (name, line) if is_named else b"data: " + line


def _is_foreign(line: bytes) -> bool:
    """Whether a line is text, not a field of an event (with an unknown name)."""
    return _FIELD.match(line) is None
