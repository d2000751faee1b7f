"""Ids in responses: sealed for the caller, in bodies, events, lines and headers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import orjson

from engine.exchange.member_protocols import Headers
from engine.exchange.opened_ids import Holder
from engine.objects.facts import ObjectFacts
from engine.objects.id_place_names import PlaceNames
from engine.objects.id_places import IdPlace, JsonName, find
from engine.objects.marks import Changes, unmarked
from engine.objects.sealed_ids import Identity, Sealer, TooLong
from engine.relay.filter import Filter
from engine.relay.whole_body import has_whole_body
from engine.values.errors import EventTooLarge
from engine.values.json_edit import apply_edits, edits
from engine.values.media_types import essence, is_json, sequence_kind
from engine.values.trees import value_at

MAX_LINE = 32_000_000
"""Bytes of a line of JSON Lines that can be edited."""

_INDENT = 64
"""Bytes of a line within which an object begins."""
_FORMS = ("body", "event", "lines", "message")
"""The forms in which responses have JSON."""
_BYTES = ("application/octet-stream", "binary/octet-stream", "text/plain")


class Look(Protocol):
    """Looks at the JSON of a response, wherever that is edited: maybe in another process."""

    def read(self, value: Any, /) -> Changes:
        """Look at a value. Returns its changes."""

    def outcome(self) -> Any:
        """What was found since the last time, for `settle`."""

    def settle(self, outcome: Any, /) -> None:
        """In the worker: note what was found. Raises GatewayError 503."""


class SealedPlaces:
    """The places of an operation's responses that have ids, and those that have marks."""

    def __init__(self, facts: ObjectFacts, json_name: JsonName | None = None) -> None:
        self.json_name = json_name
        self.header: dict[str, list[IdPlace]] = {}
        for place in _of(facts.creates, "header"):
            self.header.setdefault(place.steps[0].lower(), []).append(place)
        self.by_form = {form: _of(facts.creates, form) for form in _FORMS}
        self.marks = tuple(mark for mark in facts.marks if mark.shown is not None)
        self._names = {form: PlaceNames(places, json_name) for form, places in self.by_form.items()}

    def may_have(self, form: str, text: bytes) -> bool:
        """Whether a JSON text may have an id or a mark."""
        if form == "body" and self.marks:
            return True
        if not self.by_form[form]:
            return False
        # A name may be written with escapes, which are rare outside of values.
        return bool(self._names[form].places_in(text)) or text.rfind(rb"\u00") >= 0


class ResponseSealer:
    """Seals the ids of one response for its owner, as `transforms.edited_body` edits a body.

    `holder` is where the response comes from; `address` gives a URL of the upstream as one of the
    gateway, None for one that has none. `variable` gives the variables of the request's path.
    """

    def __init__(
        self,
        places: SealedPlaces,
        sealer: Sealer,
        owner: bytes,
        holder: Holder,
        address: Callable[[str], str | None],
        variable: Callable[[str], str],
        look: Look | None = None,
    ) -> None:
        self._places = places
        self._look = look
        self._sealer = sealer
        self._owner = owner
        self.holder = holder
        self._address = address
        self._variable = variable
        self._form = "body"
        self._sealed: dict[tuple[str, str], str] = {}

    def seal(self, vendor_id: str, kind: str) -> str | None:
        """The sealed id of an object there; None for a text that is too long to be one."""
        key = vendor_id, kind
        if key not in self._sealed:
            try:
                identity = Identity(vendor_id, self.holder, self._owner)
                self._sealed[key] = self._sealer.seal(identity, kind)
            except TooLong:
                return None
        return self._sealed[key]

    def headers(self, headers: Headers) -> Headers:
        """The headers with sealed ids, of which an address may have several."""
        places = self._places.header
        if not places:
            return headers
        sealed = []
        for name, value in headers:
            for place in places.get(name, ()):
                value = self._value(value, place) or ""
            sealed.append((name, value))
        return sealed

    def edits_body(self, method: str, status: int, content_type: str) -> bool:
        """Whether the body of a response has ids: JSON, lines of it, or events, of a success."""
        if not has_whole_body(method, status):
            return False
        places = self._places
        if is_json(content_type):
            self._form = "body"
            return bool(places.by_form["body"] or places.marks)
        self._form = "event"
        return essence(content_type) == "text/event-stream" and bool(places.by_form["event"])

    def line(self, line: bytes) -> bytes:
        """A line with sealed ids."""
        return self.json_of(line, "lines")

    def edits_lines(self, content_type: str) -> bool:
        """Whether the body of a response is JSON Lines with ids. Vendors send such files as bytes
        of no type, too."""
        kind = essence(content_type)
        is_lines = sequence_kind(kind) == "lines" or kind in _BYTES
        return is_lines and bool(self._places.by_form["lines"])

    def json(self, text: bytes) -> bytes:
        """A JSON text, a body or that of an event, with sealed ids. What is not JSON has none."""
        return self.json_of(text, self._form)

    def outcome(self) -> Any:
        """What a look at the JSON has found, None for nothing; for `settle` in the worker."""
        return None if self._look is None else self._look.outcome()

    def settle(self, outcome: Any) -> None:
        """Note what was found. Raises GatewayError 503."""
        if self._look is not None:
            self._look.settle(outcome)

    def json_of(self, text: bytes, form: str) -> bytes:
        """A JSON text of a form with sealed ids and without marks."""
        if not self._places.may_have(form, text):
            return text
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError:
            return text
        changes = self.changes(value, form)
        return apply_edits(text, edits(text, changes)) if changes else text

    def changes(self, value: Any, form: str) -> Changes:
        """The changes of a JSON value that seal its ids and take its marks away."""
        places, changes = self._places, Changes()
        if form == "body" and self._look is not None:
            changes |= self._look.read(value)
        if form == "body":
            for mark in places.marks:
                changes |= unmarked(value, mark, places.json_name)
        for place in places.by_form[form]:
            for path in find(value, place.steps, places.json_name):
                node = value_at(value, path)
                if isinstance(node, str) and node and path not in changes:
                    sealed = self._value(node, place)
                    if sealed != node:  # else it is no id there, but may be one of another kind
                        changes[path] = orjson.dumps(sealed)
        return changes

    def _value(self, value: str, place: IdPlace) -> str | None:
        """A value with its id sealed; None for an address that does not lead through here."""
        parts = place.split(value)
        if parts is None:
            return value
        if place.address:
            address = self._address(value)
            parts = None if address is None else place.split(address)
            if parts is None:
                return None
        before, text, after = parts
        prefix = place.full_prefix(self._variable)
        sealed = self.seal(prefix + text, place.kind)
        return None if sealed is None else before + sealed[len(prefix) :] + after


class SealedLines(Filter):
    """JSON Lines with sealed ids, whose bytes arrive in any pieces. Lines that are not JSON
    objects, such as those of a file of any other format, pass without being collected."""

    def __init__(self, edit: Callable[[bytes], bytes]) -> None:
        """`edit` gives a line, which may be an object, as its caller gets it."""
        self._edit = edit
        self._rest = bytearray()  # the beginning of a line that may be an object
        self._passes = False  # whether bytes are those of another line

    def feed(self, data: bytes) -> bytes:
        """The lines that `data` completes. Raises EventTooLarge."""
        pieces = []
        if self._passes:
            end = data.find(b"\n") + 1
            if not end:
                return data
            self._passes = False
            pieces, data = [data[:end]], data[end:]
        lines = data.split(b"\n")
        rest = lines.pop()
        if lines:
            lines[0] = bytes(self._rest) + lines[0]
            self._rest.clear()
            pieces += [self._line(line) + b"\n" for line in lines]
        self._rest += rest
        if len(self._rest) > MAX_LINE:
            raise EventTooLarge(f"a line of more than {MAX_LINE} bytes")
        if not _may_be_object(self._rest):
            pieces.append(self.finish())
            self._passes = True
        return b"".join(pieces)

    def finish(self) -> bytes:
        rest = bytes(self._rest)
        self._rest.clear()
        return self._line(rest)

    def _line(self, line: bytes) -> bytes:
        return self._edit(line) if _may_be_object(line) else line


def _may_be_object(line: bytes | bytearray) -> bool:
    """Whether a line, or what there is of it, begins with the brace of an object."""
    start = line[:_INDENT].lstrip()
    return start[:1] == b"{" if start else len(line) < _INDENT


def _of(places: Sequence[IdPlace], location: str) -> tuple[IdPlace, ...]:
    return tuple(place for place in places if place.location == location)


def with_names(text: bytes, names: Sequence[tuple[bytes, bytes]]) -> bytes:
    """A text, such as an error of the vendor, with the sealed ids in place of the vendor's."""
    if not names:
        return text
    sealed = dict(names)
    pattern = re.compile(b"|".join(re.escape(vendor) for vendor in sealed))
    return pattern.sub(lambda match: sealed[match[0]], text)
