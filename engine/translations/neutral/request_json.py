"""What callers send, decoded at once into structs that declare the members which a language
documents.

`JsonObject.read` decodes a text in one step where it has no other members. Where it has, or where a
value has another type, it reads that object member by member: unknown members are kept as `extra`
and their places noted, and a value of another type is named by its place. What is declared is read
alike in both cases. A null counts as absent, and so does an unknown member that is an empty text or
list; 12.0 is a whole number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Self

from msgspec import Raw, Struct, inspect
from msgspec.json import Decoder

from engine.translations.neutral.content import Block, Extra, Foreign, Text, read_cache_mark
from engine.translations.neutral.json_members import (
    ITEMS,
    NOT_OF_TYPE,
    NULL,
    OBJECT,
    WrongType,
    decode,
)

_Read = Callable[[Raw, str, list[str]], Any]
"""Reads the JSON text of a value at a place, and notes the places of unknown members in a list."""

_TEXT: Decoder[str] = Decoder(str)
_BLANK = (NULL, Raw(b"[]"), Raw(b'""'))


class JsonObject(Struct, kw_only=True, forbid_unknown_fields=True, dict=True):
    """A JSON object. A member that may be absent has a type with `| None`, or `Raw` for its text,
    which is empty then. One of several kinds has the kind as its tag. A union of them also lists
    `UnknownObject`, unless an object of another kind is to be refused. `extra` are the members that
    are not declared; their places are noted, if `notes` is False by the caller of the reader,
    behind those inside. `raw` is the text of an object that could not be decoded in one step. Both
    may be shared."""

    extra: ClassVar[Extra] = {}
    raw: ClassVar[Raw] = Raw()
    notes: ClassVar[bool] = True

    @classmethod
    def documented(cls, members: dict[str, Raw]) -> dict[str, Raw]:
        """The members of an object under the names that are declared."""
        return members

    @classmethod
    def read(cls, text: bytes | Raw, place: str, unread: list[str]) -> Self:
        """The object at `place`; `unread` collects the places of unknown members. Raises
        WrongType."""
        try:
            value: Self = _decoder(cls).decode(text)
        except NOT_OF_TYPE:
            return cls._read_members(text, place, unread)
        return value

    @classmethod
    def _read_members(cls, text: bytes | Raw, place: str, unread: list[str]) -> Self:
        members = cls.documented(decode(OBJECT, text, place, "an object"))
        inside = f"{place}." if place else ""
        values = {}
        for name, field, read, required in _fields(cls):
            raw = members.pop(name, NULL)
            if required or raw != NULL:
                values[field] = read(raw, inside + name, unread)
        value = cls(**values)
        if tag := cls.__struct_config__.tag_field:
            members.pop(tag, None)
        extra = {name: raw for name, raw in members.items() if raw not in _BLANK}
        vars(value).update(extra=extra, raw=text)
        if cls.notes:
            unread.extend(inside + name for name in extra)
        return value


@cache
def _decoder(kind: type[JsonObject]) -> Decoder[Any]:
    return Decoder(kind)


@cache
def _fields(kind: type[JsonObject]) -> list[tuple[str, str, _Read, bool]]:
    """The name, the field and the reader of each member, and whether it is required."""
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    return [(o.encode_name, o.name, _reader(o.type), o.required) for o in info.fields]


def make_decoders(kind: type[JsonObject] = JsonObject) -> None:
    """Make the decoders of this kind and of those below: else the first request would wait."""
    _decoder(kind)
    for each in kind.__subclasses__():
        make_decoders(each)


class _NoJson:
    """A type that no JSON value decodes to."""


class UnknownObject(JsonObject, tag=""):
    """An object of an undeclared kind, with all members in `extra`; `kind` is None if it names
    none. `mark` keeps it from being decoded where the kind is ""."""

    mark: _NoJson
    kind: str | None = None


def kind_of(raw: Raw, place: str, tag: str = "type") -> str | None:
    """The kind of the object at `place`; None where it names none. Raises WrongType."""
    kind = decode(OBJECT, raw, place, "an object").get(tag, NULL)
    return None if kind == NULL else decode(_TEXT, kind, f"{place}.{tag}", "a string")


def present(raw: Raw) -> Raw | None:
    """A member's text, None for one that is absent."""
    return raw if raw and raw != NULL else None


PartReader = Callable[[Any, str, list[str]], Block]
"""Reads a part of a content; it gets its place and the list of the places of what is not read."""

ContentReader = Callable[[str | Sequence[JsonObject] | None, str, list[str]], list[Block]]
"""Reads a content, which is a text or a list of parts, as a PartReader reads a part."""


def content_reader(readers: Mapping[type[JsonObject], PartReader]) -> ContentReader:
    """The reader of contents whose parts of each kind are read so."""

    def read(
        content: str | Sequence[JsonObject] | None, place: str, unread: list[str]
    ) -> list[Block]:
        if content is None:
            return []
        if isinstance(content, str):
            return [Text(text=content, place=place)]
        blocks = []
        for index, part in enumerate(content):
            where = f"{place}[{index}]"
            block = readers[type(part)](part, where, unread)
            block.place = where
            if part.extra and not isinstance(block, Foreign):
                block.cache = read_cache_mark(part.extra)
            blocks.append(block)
        return blocks

    return read


def _reader(kind: inspect.Type) -> _Read:
    """The function that reads a value of a type that is neither absent nor null."""
    types = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    objects: list[Any] = [each for each in types if isinstance(each, inspect.StructType)]
    readers: dict[bytes, _Read] = {}
    for each in types:
        if isinstance(each, inspect.ListType):
            readers[b"["] = _list(each.item_type)
        elif isinstance(each, inspect.RawType):
            return lambda raw, place, unread: raw
        elif isinstance(each, inspect.IntType):
            readers[b'"'] = _whole_number
        elif type(each) in _SCALARS:
            readers[b'"'] = _scalar(*_SCALARS[type(each)])
    if objects:
        readers[b"{"] = _any_of(objects) if len(objects) > 1 else objects[0].cls.read
    otherwise = readers.get(b"[") or readers.get(b"{") or readers[b'"']
    return _by_start(readers, otherwise) if len(readers) > 1 else otherwise


def _by_start(readers: dict[bytes, _Read], otherwise: _Read) -> _Read:
    """A reader for values of several types, selected by the first character of the JSON text."""

    def read(raw: Raw, place: str, unread: list[str]) -> Any:
        return readers.get(bytes(memoryview(raw)[:1]), otherwise)(raw, place, unread)

    return read


_NUMBER: Decoder[int | float] = Decoder(int | float)
_WHOLE_NUMBER = "a whole number"
_SCALARS: dict[type[inspect.Type], tuple[Decoder[Any], str]] = {
    inspect.StrType: (Decoder(str), "a string"),
    inspect.FloatType: (Decoder(float), "a number"),
    inspect.BoolType: (Decoder(bool), "true or false"),
    inspect.LiteralType: (Decoder(str), "a string"),
}
_LISTS: dict[type[inspect.Type], tuple[Decoder[Any], str]] = {
    inspect.StrType: (Decoder(list[str]), "a list of strings"),
    inspect.IntType: (Decoder(list[int]), "whole numbers in a list"),
}


def _whole_number(raw: Raw, place: str, unread: list[str]) -> int:
    number = decode(_NUMBER, raw, place, _WHOLE_NUMBER)
    if isinstance(number, float) and not number.is_integer():
        raise WrongType(place, _WHOLE_NUMBER)
    return int(number)


def _scalar(decoder: Decoder[Any], expected: str) -> _Read:
    return lambda raw, place, unread: decode(decoder, raw, place, expected)


def _list(item: inspect.Type) -> _Read:
    if type(item) in _LISTS:
        return _scalar(*_LISTS[type(item)])
    read_item = _reader(item)

    def read(raw: Raw, place: str, unread: list[str]) -> list[Any]:
        items = decode(ITEMS, raw, place, "a list")
        return [read_item(item, f"{place}[{at}]", unread) for at, item in enumerate(items)]

    return read


def _any_of(kinds: list[Any]) -> _Read:
    """A reader for an object of one of several kinds, selected by its tag."""
    readers = {str(kind.tag): kind.cls.read for kind in kinds if kind.cls is not UnknownObject}
    tag = kinds[0].tag_field or ""
    *tags, last_tag = readers
    text = next((name for name in ("text", "input_text") if name in readers), "").encode()

    def read(raw: Raw, place: str, unread: list[str]) -> Any:
        if text and bytes(memoryview(raw)[:1]) == b'"':  # a text among parts, as vLLM takes it
            raw = Raw(b'{"type":"%b","text":%b}' % (text, bytes(raw)))
        kind = kind_of(raw, place, tag)
        if kind in readers:
            return readers[kind](raw, place, unread)
        if len(readers) == len(kinds):
            raise WrongType(f"{place}.{tag}", f"{', '.join(tags)} or {last_tag}")
        unknown = UnknownObject(mark=_NoJson(), kind=kind)
        vars(unknown).update(extra=OBJECT.decode(raw), raw=raw)
        return unknown

    return read
