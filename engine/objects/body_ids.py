"""Ids in the body of a request: in JSON, forms and multipart/form-data."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote

import orjson

from engine.exchange.exchange import MISSING, Content, Exchange
from engine.exchange.opened_ids import OpenedIds
from engine.exchange.request_body import Body
from engine.objects.facts import ObjectFacts
from engine.objects.id_opener import IdOpener, not_found
from engine.objects.id_place_names import FieldPlaces, PlaceNames
from engine.objects.id_places import IdPlace, JsonName, find
from engine.objects.loose_places import find_loosely, hides_ids, member_of
from engine.objects.marks import Marker
from engine.process.loop_turn import paced
from engine.spec.bodies.multipart import MultipartError, boundary_of, parse
from engine.spec.parameters.query_string import Query, decode
from engine.values.errors import GatewayError
from engine.values.json_edit import Edit, apply_edits, edits
from engine.values.json_spans import (
    Ambiguous,
    Buffer,
    JsonPath,
    has_escaped_ascii,
    refuse_repeated_names,
)
from engine.values.media_types import body_kind, essence
from engine.values.trees import value_at

_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*[{\[]")
"""How a JSON object or list begins."""
_CHARSET = re.compile(
    r"charset\s*=(?!\s*[\"']?(?:utf-?8|(?:us-)?ascii|iso-8859-1)\b)", re.IGNORECASE
)
"""Another charset than those in which ids, which are ASCII, have their bytes."""
_WIDE = re.compile(rb"\xfe\xff|\xff\xfe|.?\0", re.DOTALL)
"""How UTF-16 and UTF-32 begin."""


class BodyIds:
    """Opens the ids in bodies, and marks what requests make as the caller's. `names` are those of
    the members with ids.

    `json_name` gives the other spelling of a member; `parse` parses a form again that was edited.
    """

    def __init__(
        self,
        facts: ObjectFacts,
        opener: IdOpener,
        parse: Callable[[Exchange], object],
        json_name: JsonName | None = None,
    ) -> None:
        self._opener = opener
        self._places = [place for place in facts.names if place.location == "body"]
        self._fields = FieldPlaces(self._places)
        self._json_name = json_name
        self.names = PlaceNames(self._places, json_name, lower=True)
        self._marker = Marker(facts.marks, opener.sealer)
        self._parse = parse

    def open(self, exchange: Exchange, opened: OpenedIds) -> bool:
        """Open the ids of a body, and mark what it makes. Returns whether the body has changed.
        Raises GatewayError 400, 404 and 415."""
        if not (self._places or self._marker) or (not exchange.body.size and not self._marker):
            return False
        content_type = exchange.header("CONTENT_TYPE") or ""
        kind = body_kind(exchange.content.media_type or essence(content_type))
        if self._places and exchange.body.size:
            _refuse_coded(exchange, content_type, kind)
        if kind == "json" or (not exchange.body.size and not content_type):
            return self._open_json(exchange, opened)
        if kind == "form":
            changed = self._open_form(exchange, opened)
        elif kind == "multipart":
            changed = self._open_multipart(exchange, content_type, opened)
        elif not self._places or not exchange.body.size:
            return False
        else:
            raise _unreadable()
        if changed and exchange.body.in_memory is not None:
            self._parse(exchange)
        return changed

    def _open_json(self, exchange: Exchange, opened: OpenedIds) -> bool:
        text = bytes(exchange.body.buffer)
        marked = self._marker.of_json(opened.owner) if opened.creates else []
        if not text:
            if not marked:
                return False
            text = b"{}"  # the vendor needs no body, but the mark does
            exchange.environ = {**exchange.environ, "CONTENT_TYPE": "application/json"}
            exchange.content = Content("application/json", {})
        is_escaped = bool(self._places) and has_escaped_ascii(text)
        lower = text.lower()
        places = self._places if is_escaped else self.names.places_in(lower)
        if not marked and not places:
            return False
        value = exchange.content.value
        if value is MISSING:
            try:
                value = orjson.loads(text)
            except orjson.JSONDecodeError as error:
                message = "The request body is not valid JSON."
                raise GatewayError(400, "invalid_json", message) from error
        changes, members = self._open_values(value, places, find, exchange, opened)
        is_plain = not is_escaped and self.names.are_known
        if not is_plain or self.names.count(lower, places) > members:
            _refuse_repeats(text)
            more, _ = self._open_values(value, places, find_loosely, exchange, opened)
            changes |= more
        if changes:
            text = apply_edits(text, edits(text, changes))
            for path, raw in changes.items():
                value_at(value, path[:-1])[path[-1]] = orjson.loads(raw or b"null")
        if marked:
            text, value = self._marker.mark_json(text, value, marked, self._json_name)
        if not changes and not marked:
            return False
        exchange.body = Body(text)
        exchange.content = exchange.content._replace(value=value)
        return True

    def _open_values(
        self,
        value: Any,
        places: Sequence[IdPlace],
        search: Callable[[Any, Sequence[str], JsonName | None], list[JsonPath]],
        exchange: Exchange,
        opened: OpenedIds,
    ) -> tuple[dict[JsonPath, bytes | None], int]:
        """The vendor's ids at the paths of the caller's, which `search` finds, and how many members
        had them. Raises GatewayError 404, for what may hide an id as well."""
        changes: dict[JsonPath, bytes | None] = {}
        members = set()
        for place in places:
            for path in paced(search(value, place.steps, self._json_name)):
                members.add(member_of(path, place.steps))
                entry = value_at(value, path)
                if isinstance(entry, str):
                    new = self._opener.open_at(place, entry, exchange, opened)
                    if new is not None:
                        changes[path] = orjson.dumps(new)
                elif not self._opener.passes and hides_ids(entry, place, self._places):
                    raise not_found()
        return changes, len(members - {None})

    def _open_form(self, exchange: Exchange, opened: OpenedIds) -> bool:
        if self._places and _JSON.match(exchange.body.buffer):
            raise _unreadable()  # some servers read JSON whatever its Content-Type
        raw = bytes(exchange.body.buffer).decode("latin-1")
        segments, changed = [], False
        for name, segment in Query.parse(raw, "the form").segments():
            coded, _, raw_text = segment.partition("=")
            if (place := self._fields.place_of(name)) is not None:
                text = decode(raw_text, f"field {name!r}", plus=True)
                value = self._opener.open_at(place, text, exchange, opened)
                if value is not None:
                    segment, changed = f"{coded}={quote(value, safe='')}", True
            elif name is not None and self._fields.are_inside(name):
                data = decode(raw_text, f"field {name!r}", plus=True).encode()
                _refuse_json(name, data, 0, len(data))
            segments.append(segment)
        segments += self._marker.form_fields(opened.owner)
        changed = changed or bool(self._marker)
        if changed:
            exchange.body = Body("&".join(segments).encode("latin-1"))
        return changed

    def _open_multipart(self, exchange: Exchange, content_type: str, opened: OpenedIds) -> bool:
        body = exchange.body
        try:
            boundary = boundary_of(content_type)
            parts = exchange.content.parts or parse(body.buffer, boundary)
        except MultipartError as error:
            message = f"The request body cannot be read as multipart/form-data: {error}."
            raise GatewayError(400, "invalid_multipart", message) from error
        changes: list[Edit] = []
        for part in parts:
            place = self._fields.place_of(part.name)
            if place is None:
                if self._fields.are_inside(part.name):
                    _refuse_json(part.name, body.buffer, part.start, part.end)
                continue
            text = bytes(body.buffer[part.start : part.end]).decode("utf-8", "replace")
            value = self._opener.open_at(place, text, exchange, opened)
            if value is not None:
                changes.append((part.start, part.end, value.encode()))
        changes += self._marker.multipart_edits(body.buffer, parts, boundary, opened.owner)
        if not changes:
            return False
        changes.sort()
        # A large body is not copied for it: nothing behind this reads its bytes again.
        exchange.body = body.with_edits(*changes)
        return True


def _refuse_coded(exchange: Exchange, content_type: str, kind: str) -> None:
    """Refuse a body in which nobody finds the ids that a vendor may find: compressed, or in a wide
    charset. Raises GatewayError 415."""
    coding = (exchange.header("HTTP_CONTENT_ENCODING") or "identity").strip().lower()
    is_wide = _CHARSET.search(content_type) or _WIDE.match(exchange.body.buffer)
    if coding != "identity" or (is_wide and kind != "multipart"):
        raise _unreadable()


def _refuse_repeats(text: bytes) -> None:
    """Refuse JSON in which a member with an id, or one above it, is given twice: the vendor might
    read the other one. Raises GatewayError 400."""
    try:
        refuse_repeated_names(text)
    except Ambiguous as error:
        raise GatewayError(400, "invalid_value", f"The request body {error}.") from error


def _unreadable() -> GatewayError:
    message = (
        "The ids in a body of this Content-Type cannot be read; send application/json in UTF-8."
    )
    return GatewayError(415, "unsupported_media_type", message)


def _refuse_json(name: str, buffer: Buffer, start: int, end: int) -> None:
    """Refuse JSON in a field that has ids in fields inside of it: the vendor could read one there
    that nobody has opened. Raises GatewayError 400."""
    if _JSON.match(buffer, start, end):
        message = f"The ids in JSON of the field '{name}' cannot be read; send {name}[MEMBER]."
        raise GatewayError(400, "invalid_value", message, param=name)
