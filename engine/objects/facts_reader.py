"""Reads the facts of an operation, `x-modelway-objects`, and notes every fault of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from engine.objects.facts import (
    BATCH,
    COPY,
    FORMS,
    TURNS,
    Condition,
    ListFacts,
    MarkFacts,
    ObjectFacts,
)
from engine.objects.id_places import REQUEST, RESPONSE, BadPlace, IdPlace, read_place
from engine.source.problem import Path
from engine.values.json_pointer import path_of

_KIND = re.compile(r"[a-z][a-z0-9_]{0,63}")
_STREAM = re.compile(r"body#(?:/([^/*]+))?")
_KEYS = ("names", "creates", "lists", "marks", "turns", "batch", "when", "streams", "copy")
_LIST_TEXTS = ("limit", "forward", "backward")
_LIST_POINTERS = ("items", "next", "more", "first", "last")
_LIST_KEYS = ("kind", "id", "default", "max", "cursor", *_LIST_TEXTS, *_LIST_POINTERS)


class Fault(Struct, frozen=True):
    """What is wrong with facts, at a path in them."""

    at: Path
    message: str


def read_facts(value: object) -> tuple[ObjectFacts | None, list[Fault]]:
    """The facts of an operation, and all faults of them; None if there are faults."""
    reader = _Reader()
    facts = reader.read(value)
    return (None if reader.faults else facts), reader.faults


class _Reader:
    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def read(self, value: object) -> ObjectFacts:
        if not isinstance(value, dict):
            self._add((), f"the facts are a mapping with {', '.join(_KEYS)}")
            return ObjectFacts()
        self._refuse_unknown(value, _KEYS, ())
        return ObjectFacts(
            self._places(value.get("names", {}), REQUEST, ("names",)),
            self._places(value.get("creates", {}), RESPONSE, ("creates",)),
            self._list(value["lists"]) if "lists" in value else None,
            self._marks(value.get("marks", [])),
            self._turns(value.get("turns", "")),
            self._batch(value.get("batch", [])),
            self._condition(value["when"]) if "when" in value else None,
            self._stream(value.get("streams")),
            self._copy(value.get("copy", "")),
        )

    def _places(self, value: object, locations: tuple[str, ...], at: Path) -> tuple[IdPlace, ...]:
        if not isinstance(value, dict):
            self._add(at, "this is a mapping of kinds to places, such as {file: path.file_id}")
            return ()
        places = []
        for kind, listed in value.items():
            if not self._is_kind(kind, (*at, str(kind))):
                continue
            for index, entry in enumerate(listed if isinstance(listed, list) else [listed]):
                where = (*at, kind, index) if isinstance(listed, list) else (*at, kind)
                place = self._place(kind, entry, locations, where)
                places += [] if place is None else [place]
        return tuple(places)

    def _place(
        self, kind: str, value: object, locations: tuple[str, ...], at: Path
    ) -> IdPlace | None:
        try:
            return read_place(kind, value, locations)
        except BadPlace as bad:
            self._add(at, str(bad))
            return None

    def _list(self, value: object) -> ListFacts | None:
        at: Path = ("lists",)
        if not isinstance(value, dict):
            self._add(at, "this is a mapping with the 'kind' of the list")
            return None
        self._refuse_unknown(value, _LIST_KEYS, at)
        if not self._is_kind(value.get("kind"), (*at, "kind")):
            return None
        options: dict[str, Any] = {"kind": value["kind"]}
        for key in ("default", "max"):
            if key in value:
                options[key] = self._number(value[key], (*at, key))
        for key in _LIST_TEXTS:
            options[key] = self._text(value.get(key, ""), (*at, key))
        for key in _LIST_POINTERS:
            if key in value:
                options[key] = self._pointer(value[key], "body#", (*at, key))
        if "id" in value:
            options["id"] = self._pointer(value["id"], "", (*at, "id"))
        options["cursor"] = value.get("cursor", "id")
        if options["cursor"] not in ("id", "token"):
            self._add((*at, "cursor"), "a cursor is 'id' or 'token'")
        if options["cursor"] == "token" and "next" not in options:
            self._add(at, "a list with 'cursor: token' has the place of the 'next' one")
        return ListFacts(**options)

    def _marks(self, value: object) -> tuple[MarkFacts, ...]:
        if not isinstance(value, list):
            self._add(("marks",), "this is a list of {kind, form, at, shown}")
            return ()
        return tuple(
            mark
            for index, entry in enumerate(value)
            if (mark := self._mark(entry, ("marks", index))) is not None
        )

    def _mark(self, value: object, at: Path) -> MarkFacts | None:
        if not isinstance(value, dict):
            self._add(at, "a mark is a mapping with kind, form, at and shown")
            return None
        self._refuse_unknown(value, ("kind", "form", "at", "shown"), at)
        kind, form = value.get("kind"), value.get("form")
        if not self._is_kind(kind, (*at, "kind")):
            return None
        if form not in FORMS:
            self._add((*at, "form"), f"a form is one of {', '.join(FORMS)}")
            return None
        places = [
            self._place(str(kind), value[key], ("body",), (*at, key)) if key in value else None
            for key in ("at", "shown")
        ]
        return MarkFacts(str(kind), form, *places)

    def _turns(self, value: object) -> str:
        if value == "" or value in TURNS:
            return str(value)
        self._add(("turns",), f"this is one of {', '.join(TURNS)}")
        return ""

    def _batch(self, value: object) -> tuple[str, ...]:
        words = value if isinstance(value, list) else [value]
        if all(word in BATCH for word in words):
            return tuple(words)
        self._add(("batch",), f"this is one of {', '.join(BATCH)}, or a list of these")
        return ()

    def _copy(self, value: object) -> str:
        if value == "" or value in COPY:
            return str(value)
        self._add(("copy",), f"this is one of {', '.join(COPY)}")
        return ""

    def _condition(self, value: object) -> Condition:
        if not isinstance(value, dict):
            return Condition(self._condition_at(value, ("when",)))
        self._refuse_unknown(value, ("at", "kinds"), ("when",))
        entry = value.get("kinds")
        kinds: list[Any] = entry if isinstance(entry, list) else [entry]
        if all(self._is_kind(kind, ("when", "kinds")) for kind in kinds):
            return Condition(self._condition_at(value.get("at"), ("when", "at")), tuple(kinds))
        return Condition(())

    def _condition_at(self, value: object, at: Path) -> tuple[str, ...]:
        if isinstance(value, str) and "**" not in value:
            self._pointer(value.replace("/*/", "/0/"), "body#", at)
            return path_of(value.removeprefix("body#"))
        return self._pointer(value, "body#", at)

    def _stream(self, value: object) -> str | None:
        if value is None:
            return None
        if isinstance(value, str) and (match := _STREAM.fullmatch(value)):
            return match[1] or ""
        self._add(("streams",), "write body# for a body that is a file, body#/file for a form's")
        return None

    def _pointer(self, value: object, start: str, at: Path) -> tuple[str, ...]:
        if not isinstance(value, str) or not value.startswith(f"{start}/") or "*" in value:
            self._add(at, f"write {start}/NAME: one place, without '*'")
            return ()
        return path_of(value.removeprefix(start))

    def _number(self, value: object, at: Path) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 100_000:
            self._add(at, "this is a number of items, from 1 to 100000")
            return 1
        return value

    def _text(self, value: object, at: Path) -> str:
        if not isinstance(value, str):
            self._add(at, "this is the name of a query parameter")
            return ""
        return value

    def _is_kind(self, value: object, at: Path) -> bool:
        if isinstance(value, str) and _KIND.fullmatch(value):
            return True
        self._add(at, "a kind is a name of lower-case letters, digits and '_', such as file")
        return False

    def _refuse_unknown(self, value: Mapping[Any, Any], known: tuple[str, ...], at: Path) -> None:
        for key in value:
            if key not in known:
                self._add((*at, str(key)), f"'{key}' is not known; known are {', '.join(known)}")

    def _add(self, at: Path, message: str) -> None:
        self.faults.append(Fault(at, message))
