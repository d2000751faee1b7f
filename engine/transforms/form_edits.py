"""Edits of the fields of forms, urlencoded and multipart. A field is found by its full name. A part
with a file is never changed, and places below a field are not edited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

import orjson
from msgspec import Struct

from engine.spec.bodies.multipart import Buffer, Part
from engine.spec.parameters.query_string import Query
from engine.transforms.body_edits import BodyEdits, ValueEdits
from engine.transforms.look_alikes import other_names, renamed_others
from engine.transforms.places import Place
from engine.transforms.template import TemplateValues, literal
from engine.transforms.url_edits import QueryEdits
from engine.values.errors import GatewayError
from engine.values.json_edit import Edit

_NONE: Set[str] = frozenset()
_ESCAPES = str.maketrans({'"': "%22", "\r": "%0D", "\n": "%0A"})


def edit_form(text: bytes, edits: BodyEdits, values: TemplateValues) -> bytes:
    """An urlencoded body after the edits. Raises GatewayError 400."""
    fields = _field_edits(edits, values)
    first = QueryEdits(remove=frozenset(fields.remove), rename=dict(fields.rename))
    raw = first.apply(text.decode("latin-1"), values)
    for name, default in fields.default:
        if fields.unless.get(name, _NONE).isdisjoint(Query.parse(raw).names()):
            raw = QueryEdits(default={name: literal(default)}).apply(raw, values)
    last = QueryEdits(set={name: literal(text) for name, text in fields.set})
    return last.apply(raw, values).encode("latin-1")


def multipart_edits(
    buffer: Buffer, parts: Sequence[Part], boundary: bytes, edits: BodyEdits, values: TemplateValues
) -> list[Edit]:
    """The edits of a multipart body that has these parts. Raises GatewayError 400 for a value that
    contains the boundary."""
    form = _Multipart(buffer, parts, b"--" + boundary)
    fields = _field_edits(edits, values)
    for name in fields.remove:
        form.remove(name)
    for old, new in fields.rename:
        form.rename(old, new)
    for name in renamed_others(form.names, dict(fields.rename)):
        form.cut(name)
    for name, text in fields.default:
        if name not in form.names and fields.unless.get(name, _NONE).isdisjoint(form.names):
            form.add(name, text)
    for name, text in fields.set:
        form.set(name, text)
    return sorted(form.changes)


class _Multipart:
    """Collects the edits of a body. `line` is the beginning of its boundary lines; `names` are the
    names of its parts after the edits."""

    def __init__(self, buffer: Buffer, parts: Sequence[Part], line: bytes) -> None:
        self._line = line
        self._texts = [part for part in parts if part.filename is None]
        self._files = {part.name for part in parts if part.filename is not None}
        self._start = buffer.find(line)
        ends = [part.end + 2 for part in parts]
        self._begins = dict(zip((part.start for part in parts), [self._start, *ends], strict=False))
        self.names = {part.name for part in parts}
        self.changes: list[Edit] = []

    def remove(self, name: str) -> None:
        """Take out the parts of a name, in any spelling of it."""
        for each in (name, *other_names(self.names, {name})):
            self.cut(each)

    def cut(self, name: str, first: int = 0) -> None:
        """Remove the parts of that name, except the first `first` ones."""
        parts = [part for part in self._texts if part.name == name][first:]
        self.changes += [(self._begin(part), part.end + 2, b"") for part in parts]
        if first == 0 and name not in self._files:
            self.names.discard(name)

    def rename(self, old: str, new: str) -> None:
        """Rename parts. If there is already a part named `new`, the old ones are removed."""
        if new in self.names:
            self.cut(old)
            return
        for part in self._texts:
            if part.name == old:
                start = self._begin(part) + len(self._line) + 2
                self.changes.append((start, part.start, _head(new, part.content_type)))
                self.names.add(new)

    def set(self, name: str, text: str) -> None:
        """Replace the text of the first part of that name and remove the others; add a part if
        there is none."""
        if name in self._files:
            return
        for other in other_names(self.names, {name}):
            self.cut(other)
        if name not in self.names:
            self.add(name, text)
            return
        part = next(part for part in self._texts if part.name == name)
        self.changes.append((part.start, part.end, self._content(text)))
        self.cut(name, 1)

    def add(self, name: str, text: str) -> None:
        """Add a part before the others."""
        part = self._line + b"\r\n" + _head(name, None) + self._content(text) + b"\r\n"
        self.changes.append((self._start, self._start, part))

    def _begin(self, part: Part) -> int:
        """The offset of the boundary line before a part."""
        return self._begins[part.start]

    def _content(self, text: str) -> bytes:
        content = text.encode()
        if self._line in content:
            message = "A value of this request contains the multipart boundary of its body."
            raise GatewayError(400, "invalid_value", message)
        return content


def _head(name: str, content_type: str | None) -> bytes:
    head = f'Content-Disposition: form-data; name="{name.translate(_ESCAPES)}"\r\n'
    if content_type is not None:
        head += f"Content-Type: {content_type}\r\n"
    return head.encode() + b"\r\n"


class _FieldEdits(Struct, frozen=True):
    """The edits of the fields of a form, with their texts. `unless` gives, by the name of a
    default, the names of the fields that suppress it."""

    remove: list[str]
    rename: list[tuple[str, str]]
    default: list[tuple[str, str]]
    set: list[tuple[str, str]]
    unless: Mapping[str, Set[str]]


def _field_edits(edits: BodyEdits, values: TemplateValues) -> _FieldEdits:
    return _FieldEdits(
        remove=[name for place in edits.remove if (name := _name(place)) is not None],
        rename=[
            (before, after)
            for old, new in edits.rename
            if (before := _name(old)) is not None and (after := _name(new)) is not None
        ],
        default=_texts(edits.default, values),
        set=_texts(edits.set, values),
        unless={
            steps[0]: {name for place in places if (name := _name(place)) is not None}
            for steps, places in edits.unless.items()
        },
    )


def _name(place: Place) -> str | None:
    """The name of the field; None for a place that is not a field."""
    return place.steps[0] if len(place.steps) == 1 and place.query is None else None


def _texts(edits: ValueEdits, values: TemplateValues) -> list[tuple[str, str]]:
    """Names and texts: a string as it is, any other value as JSON."""
    texts = []
    for place, value in edits:
        name, filled = _name(place), value.fill(values)
        if name is not None and filled is not None:
            text = orjson.loads(filled)
            texts.append((name, text if isinstance(text, str) else filled.decode()))
    return texts
