"""Edits of a JSON body: remove, rename, default, set, prepend, append, in this order.

The values that they insert are any of YAML, of which the strings are templates.

The rules that depend on the body:
- `default` sets a missing value, unless one of its places in `unless` has a value; null is a value.
- `rename` moves a value; if the new place already has a value, that one stays.
- `set` replaces every value that a query finds; without a query it also creates a missing place,
  with the objects above it.
- An edit below a value that is neither an object nor an array is skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any

import orjson
from msgspec import Struct, field

from engine.transforms.look_alikes import other_members
from engine.transforms.places import JsonName, Place
from engine.transforms.template import Template, TemplateValues
from engine.values.json_document import JsonDocument
from engine.values.json_spans import JsonPath

MISSING: Any = object()
"""The result for a value with a template that has no value."""


class JsonValue:
    """A compiled value. `constant` is its JSON text if its templates have no names, else None;
    `sample` is the value with its templates unfilled, a list for the elements of a header."""

    __slots__ = ("_value", "constant", "sample")

    def __init__(self, value: Any, compile_text: Callable[[str], Template]) -> None:
        """Raises ValueError for a value that JSON cannot represent."""
        self.sample = _sample(value)
        self._value = _compiled(value, compile_text)
        if isinstance(self._value, Template) and self._value.is_list:
            self.sample = [value]
        constant = _filled(self._value, None)
        self.constant = None if constant is MISSING else _text(constant)

    def fill(self, values: TemplateValues) -> bytes | None:
        """The JSON text; None if a template has no value."""
        if self.constant is not None:
            return self.constant
        filled = _filled(self._value, values)
        return None if filled is MISSING else _text(filled)


def _text(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError as error:
        raise ValueError(f"JSON cannot hold it: {error}") from error


def _sample(value: Any) -> Any:
    if isinstance(value, float) and not isfinite(value):
        raise ValueError("JSON has no infinity and no NaN")
    if isinstance(value, dict):
        return {name: _sample(below) for name, below in value.items()}
    return [_sample(item) for item in value] if isinstance(value, list) else value


def _compiled(value: Any, compile_text: Callable[[str], Template]) -> Any:
    if isinstance(value, str):
        template = compile_text(value)
        return template if template.constant is None else template.constant
    if isinstance(value, dict):
        return {name: _compiled(below, compile_text) for name, below in value.items()}
    return [_compiled(item, compile_text) for item in value] if isinstance(value, list) else value


def _filled(value: Any, values: TemplateValues | None) -> Any:
    """The value with its templates filled in; MISSING if one has no value, or without `values`."""
    if isinstance(value, Template):
        if values is None:
            return MISSING
        filled = value.elements(values) if value.is_list else value.fill(values)
        return MISSING if filled is None else filled
    if isinstance(value, dict):
        members = {name: _filled(below, values) for name, below in value.items()}
        return MISSING if MISSING in members.values() else members
    if isinstance(value, list):
        items: list[Any] = []
        for item in value:
            filled = _filled(item, values)
            if filled is MISSING:
                return MISSING
            is_list = isinstance(item, Template) and item.is_list
            items += filled if is_list else [filled]
        return items
    return value


ValueEdits = tuple[tuple[Place, JsonValue], ...]
ItemEdits = tuple[tuple[Place, tuple[JsonValue, ...]], ...]


class BodyEdits(Struct, frozen=True):
    """The edits of a body. The places of one transform do not overlap. `unless` gives, by the steps
    of a `default`, the places whose values suppress it."""

    remove: tuple[Place, ...] = ()
    rename: tuple[tuple[Place, Place], ...] = ()
    default: ValueEdits = ()
    set: ValueEdits = ()
    prepend: ItemEdits = ()
    append: ItemEdits = ()
    unless: Mapping[tuple[str, ...], tuple[Place, ...]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        edits = (self.remove, self.rename, self.default, self.set, self.prepend, self.append)
        return any(edits)

    def with_names(self, json_name: JsonName) -> BodyEdits:
        """The edits of bodies of an API whose members may have two spellings."""

        def names(place: Place) -> Place:
            return place.with_names(json_name)

        return BodyEdits(
            remove=tuple(map(names, self.remove)),
            rename=tuple((names(old), names(new)) for old, new in self.rename),
            default=tuple((names(place), value) for place, value in self.default),
            set=tuple((names(place), value) for place, value in self.set),
            prepend=tuple((names(place), items) for place, items in self.prepend),
            append=tuple((names(place), items) for place, items in self.append),
            unless={steps: tuple(map(names, places)) for steps, places in self.unless.items()},
        )

    def apply(
        self, document: JsonDocument, values: TemplateValues, *, request: bool = False
    ) -> None:
        """Edit a document. In a `request`, what is removed, renamed or set takes other spellings of
        it away. Raises Ambiguous for a repeated member, and TooDeep."""
        for place in self.remove:
            others = other_members(document.value, place) if request else []
            if paths := dict.fromkeys((*place.find(document.value), *others)):
                document.remove(paths)
        for old, new in self.rename:
            _rename(document, old, new)
        if request and self.rename:
            targets = [new for _, new in self.rename]
            for old, _ in self.rename:
                _remove_others(document, old, *targets)
        for place, value in self.default:
            path = place.path(document.value)
            if path is None or document.has(path):
                continue
            if any(other.find(document.value) for other in self.unless.get(place.steps, ())):
                continue
            _create(document, path, value.fill(values))
        for place, value in self.set:
            text = value.fill(values)
            if request and text is not None:
                _remove_others(document, place)
            _set(document, place, text)
        for place, items in self.prepend:
            _insert(document, place, _texts(items, values), front=True)
        for place, items in self.append:
            _insert(document, place, _texts(items, values), front=False)


def _remove_others(document: JsonDocument, place: Place, *exceptions: Place) -> None:
    """Remove other spellings of the member at a place, but not those at `exceptions`."""
    if others := other_members(document.value, place):
        paths = [path for each in (place, *exceptions) for path in each.find(document.value)]
        if others := [path for path in others if path not in paths]:
            document.remove(others)


def _rename(document: JsonDocument, old: Place, new: Place) -> None:
    for path in old.find(document.value):
        target = new.path(document.value)
        if target is None or target == path:  # which may be two spellings of one member
            continue
        if document.has(target):
            document.remove([path])
        elif target[:-1] == path[:-1] and isinstance(path[-1], str):
            document.rename(path, str(target[-1]))
        elif document.can_create(target):
            text = document.raw(path)
            document.remove([path])
            document.create(target, text)


def _set(document: JsonDocument, place: Place, text: bytes | None) -> None:
    if text is None:
        return
    if paths := place.find(document.value):
        document.replace_all(paths, text)
    elif place.query is None and (missing := place.path(document.value)) is not None:
        _create(document, missing, text)


def _create(document: JsonDocument, path: JsonPath, text: bytes | None) -> None:
    if text is not None and document.can_create(path):
        document.create(path, text)


def _texts(items: Sequence[JsonValue], values: TemplateValues) -> list[bytes]:
    """The texts of the items; none at all if one has no value."""
    texts = [item.fill(values) for item in items]
    return [] if None in texts else [text for text in texts if text is not None]


def _insert(document: JsonDocument, place: Place, texts: list[bytes], *, front: bool) -> None:
    if not texts:
        return
    if paths := place.find(document.value):
        arrays = [path for path in paths if isinstance(document.get(path), list)]
        document.insert(arrays, texts, front=front)
    elif place.query is None and (missing := place.path(document.value)) is not None:
        _create(document, missing, b"[" + b",".join(texts) + b"]")
