"""The mark of its owner that an object carries, so that a list tells whose a row is.

A vendor knows one account, not the callers of this gateway. So the request that makes an object
adds a mark to what the vendor keeps of it: a member of its metadata, or a text in front of its
name. The mark is a MAC of the owner (`Sealer.mark`); responses lose it again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from engine.exchange.member_protocols import Part
from engine.objects.facts import MEMBER, MarkFacts
from engine.objects.id_places import IdPlace, JsonName, find
from engine.objects.sealed_ids import Sealer
from engine.spec.bodies.multipart import Buffer
from engine.values.errors import GatewayError
from engine.values.json_document import JsonDocument
from engine.values.json_edit import Edit
from engine.values.json_spans import Ambiguous, JsonPath
from engine.values.trees import value_at

_START = "mwo-"
_MARK = re.compile(rf"{_START}([a-z2-7]{{16}})-")
_FILENAME = re.compile(rb'filename="|filename\*=[^\'\r\n]*\'[^\'\r\n]*\'|filename=', re.IGNORECASE)


class Marker:
    """Marks what requests make. It is false if they make nothing that is marked."""

    def __init__(self, marks: Sequence[MarkFacts], sealer: Sealer) -> None:
        self._marks = [(mark, mark.at) for mark in marks if mark.at is not None]
        self._sealer = sealer

    def __bool__(self) -> bool:
        return bool(self._marks)

    def of_json(self, owner: bytes) -> list[tuple[MarkFacts, IdPlace, str]]:
        """The marks of a JSON body."""
        return [
            (mark, at, self._sealer.mark(owner, mark.kind))
            for mark, at in self._marks
            if mark.form != "filename"
        ]

    def mark_json(
        self,
        text: bytes,
        value: Any,
        marks: Iterable[tuple[MarkFacts, IdPlace, str]],
        json_name: JsonName | None,
    ) -> tuple[bytes, Any]:
        """A JSON text and its value with the marks. What the caller has written in their place is
        replaced. Raises GatewayError 400 for a body that cannot be marked."""
        document = JsonDocument(text, value)
        try:
            for mark, at, owner in marks:
                path = _path(document.value, at.steps, json_name)
                if mark.form == "text":
                    old = document.get(path) if document.has(path) else ""
                    _write(document, path, f"{_START}{owner}-{old if isinstance(old, str) else ''}")
                elif isinstance(document.get(path) if document.has(path) else None, dict):
                    _write(document, (*path, MEMBER), owner)
                else:
                    _write(document, path, {MEMBER: owner})
        except (Ambiguous, KeyError, TypeError) as error:
            message = "The request body cannot be marked as yours: it repeats a member, or one "
            message += "above it is not an object."
            raise GatewayError(400, "invalid_value", message) from error
        return document.text, document.value

    def form_fields(self, owner: bytes) -> list[str]:
        """The fields of an urlencoded form that mark it."""
        return [
            f"{'.'.join(at.steps)}%5B{MEMBER}%5D={self._sealer.mark(owner, mark.kind)}"
            for mark, at in self._marks
            if mark.form == "map"
        ]

    def multipart_edits(
        self, buffer: Buffer, parts: Sequence[Part], boundary: bytes, owner: bytes
    ) -> list[Edit]:
        """The edits that mark the file names, or the fields, of a multipart body."""
        changes: list[Edit] = []
        for mark, at in self._marks:
            text = f"{_START}{self._sealer.mark(owner, mark.kind)}-".encode()
            for index, part in enumerate(parts):
                if part.name != at.steps[0]:
                    continue
                if mark.form == "text":
                    changes.append((part.start, part.start, text))
                elif mark.form == "filename":
                    start = parts[index - 1].end if index else 0
                    head = bytes(buffer[start : part.start])
                    changes += [
                        (start + match.end(), start + match.end(), text)
                        for match in _FILENAME.finditer(head)
                    ]
            if mark.form == "map":
                changes.append(_map_field(buffer, boundary, at.steps[0], text))
        return changes


def _map_field(buffer: Buffer, boundary: bytes, name: str, mark: bytes) -> Edit:
    """The edit that adds the mark as a field of a form."""
    start = buffer.find(b"--" + boundary)
    owner = mark.removeprefix(_START.encode())[:-1]
    head = f'Content-Disposition: form-data; name="{name}[{MEMBER}]"\r\n\r\n'.encode()
    return start, start, b"--" + boundary + b"\r\n" + head + owner + b"\r\n"


def marks_in(row: Any, marks: Sequence[MarkFacts], items: Sequence[str]) -> str | None:
    """The mark that a row of a list carries, None without any. `items` is the place of the rows,
    which begins that of each mark."""
    for mark in marks:
        if mark.shown is None:
            continue
        steps = mark.shown.steps[len(items) + 1 :]
        for path in find(row, steps):
            value = value_at(row, path)
            if mark.form == "map":
                owner = value.get(MEMBER) if isinstance(value, dict) else None
                if isinstance(owner, str):
                    return owner
            elif isinstance(value, str) and (match := _MARK.match(value)):
                return match[1]
    return None


Changes = dict[JsonPath, bytes | None]
"""New texts of values by their paths; None removes one."""


def unmarked(value: Any, mark: MarkFacts, json_name: JsonName | None) -> Changes:
    """The changes that take a mark out of a response."""
    changes: Changes = {}
    if mark.shown is None:
        return changes
    for path in find(value, mark.shown.steps, json_name):
        node = value_at(value, path)
        if mark.form == "map":
            if isinstance(node, dict) and MEMBER in node:
                changes[(*path, MEMBER)] = None
        elif isinstance(node, str) and (match := _MARK.match(node)):
            changes[path] = orjson.dumps(node[match.end() :])
    return changes


def _path(value: Any, steps: Sequence[str], json_name: JsonName | None) -> JsonPath:
    """The path of a place, in the spelling that a body has."""
    for size in range(len(steps), 0, -1):
        if paths := find(value, steps[:size], json_name):
            return (*paths[0], *steps[size:])
    return tuple(steps)


def _write(document: JsonDocument, path: JsonPath, value: Any) -> None:
    """Write a value at a path, with the objects above it that are missing."""
    text = orjson.dumps(value)
    if document.has(path):
        document.replace(path, text)
    elif document.can_create(path):
        document.create(path, text)
    else:
        raise KeyError(path)
