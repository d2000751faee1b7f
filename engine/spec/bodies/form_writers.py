"""Writes forms, as documents describe the fields (OpenAPI 3.1.1, "Encoding Object"): urlencoded
ones and multipart/form-data (RFC 7578), the reverse of `form_bodies.py`.

The boundary depends on nothing but the parts, so that equal values are equal bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from engine.spec.bodies.form_bodies import Encoding
from engine.spec.parameters.parameter_writers import apart, parameter_writer
from engine.values.media_types import essence, is_json


def write_form(values: Mapping[str, Any], encoding: Encoding, names: Collection[str] = ()) -> bytes:
    """The body of these fields. None is the same as no value. A list or object whose `encoding`
    names no style is written as most servers read it: a list repeats its name, an object has
    brackets. `names` are those of all fields, which no member of an object may have. Raises
    ValueError with the name of a field."""
    encodings, all_names = encoding or {}, frozenset((*names, *values))
    texts = (
        _texts(name, value, encodings.get(name, {}), all_names) for name, value in values.items()
    )
    return "&".join(text for each in texts for text in each).encode()


def _texts(
    name: str, value: Any, encoding: Mapping[str, Any], names: frozenset[str]
) -> Iterator[str]:
    """The text of a field; nothing for a value that no text has."""
    if value is None:
        return
    style, explode = encoding.get("style"), encoding.get("explode")
    is_content = style is None and explode is None
    if is_content and is_json(str(encoding.get("contentType", ""))):
        yield f"{quote(name, safe='')}={quote(json.dumps(value), safe='')}"
        return
    if style is None and has_objects(value):
        style = "deepObject"
    writer = parameter_writer(name, "form", style, explode)
    text = (apart(writer, names) if has_objects(value) else writer).write(value)
    if text is not None:
        yield text


def has_objects(value: object) -> bool:
    """Whether a value has parts that only brackets can name: it is an object, or a list of lists
    or objects."""
    items = value if isinstance(value, list | tuple) else ()
    return isinstance(value, Mapping) or any(isinstance(i, Mapping | list | tuple) for i in items)


_SEPARATORS = {"csv": ",", "ssv": " ", "tsv": "\t", "pipes": "|"}
_UNSAFE = re.compile(r'["\r\n\\\0]|%(?:22|0[AaDd])')
"""What parsers read differently in a quoted name: see `multipart._ESCAPE`."""
_MEDIA_TYPE = re.compile(r"[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+(?:;[ -~]*)?")
_JSON = "application/json"


class File(Struct, frozen=True):
    """A file of a form: its content, its name, and its media type, "" for that of the document."""

    content: bytes
    filename: str = ""
    media_type: str = ""


class _Part(Struct, frozen=True):
    name: str
    content: bytes
    content_type: str = ""
    filename: str = ""


def write_multipart(values: Mapping[str, Any], encoding: Encoding) -> tuple[bytes, str]:
    """The body of these fields, and its Content-Type. A value is a JSON value, a `File`, or a list
    of these; None is the same as no value. Raises ValueError with the name of a field."""
    encodings = encoding or {}
    parts = [
        part for name, value in values.items() for part in _parts(name, value, encodings.get(name))
    ]
    boundary = _boundary(parts)
    line = b"--" + boundary
    body = b"".join(
        line + b"\r\n" + _head(part) + b"\r\n" + part.content + b"\r\n" for part in parts
    )
    return body + line + b"--\r\n", f"multipart/form-data; boundary={boundary.decode()}"


def _boundary(parts: list[_Part]) -> bytes:
    """A boundary that no part contains."""
    digest = sha256(b"\0".join(_head(part) + part.content for part in parts))
    while True:
        boundary = b"modelway-" + digest.hexdigest()[:32].encode()
        if not any(boundary in part.content for part in parts):
            return boundary
        digest.update(b"+")


def _head(part: _Part) -> bytes:
    head = f'Content-Disposition: form-data; name="{part.name}"'
    if part.filename:
        head += f'; filename="{part.filename}"'
    head += "\r\n"
    if part.content_type:
        head += f"Content-Type: {part.content_type}\r\n"
    return head.encode()


def _parts(name: str, value: Any, encoding: Mapping[str, Any] | None) -> Iterator[_Part]:
    """The parts of a field; none for an empty list."""
    if value is None:
        return
    _check(name, "the name", name)
    declared = str((encoding or {}).get("contentType", ""))
    style = (encoding or {}).get("style")
    if isinstance(value, list | tuple) and style in _SEPARATORS:
        yield _Part(name, _joined(name, value, _SEPARATORS[style]))
    elif style == "deepObject" and has_objects(value):
        yield from _bracketed(name, value)
    elif isinstance(value, list | tuple):
        for item in value:
            yield _part(name, item, declared)
    else:
        yield _part(name, value, declared)


def _part(name: str, value: Any, declared: str) -> _Part:
    if isinstance(value, File):
        filename, media_type = value.filename or name, value.media_type or _concrete(declared)
        _check(name, "the file name", filename)
        if media_type and not _MEDIA_TYPE.fullmatch(media_type):
            raise ValueError(f"form field '{name}': '{media_type}' is not a media type")
        return _Part(name, value.content, media_type or "application/octet-stream", filename)
    if isinstance(value, Mapping | list | tuple) or value is None or is_json(declared):
        return _Part(name, _json(name, value), _concrete(declared) if is_json(declared) else _JSON)
    return _Part(name, _text(value).encode(), _concrete(declared))


def _bracketed(name: str, value: Any) -> Iterator[_Part]:
    """The parts `name[a][b]` of an object."""
    if isinstance(value, Mapping):
        pairs = [(str(key), each) for key, each in value.items()]
    else:
        pairs = [(str(index), each) for index, each in enumerate(value)]
    for key, each in pairs:
        if "[" in key or "]" in key:
            raise ValueError(f"form field '{name}': '{key}' cannot be written in brackets")
        _check(name, "the name", key)
        if isinstance(each, Mapping | list | tuple):
            yield from _bracketed(f"{name}[{key}]", each)
        elif each is not None:
            yield _part(f"{name}[{key}]", each, "")


def _joined(name: str, items: list[Any] | tuple[Any, ...], separator: str) -> bytes:
    texts = [*map(_text, items)]
    if any(separator in text for text in texts):
        message = f"an item contains {separator!r}, which separates items here"
        raise ValueError(f"form field '{name}': {message}")
    return separator.join(texts).encode()


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _json(name: str, value: object) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except TypeError as error:
        raise ValueError(f"form field '{name}': a file within a list or object") from error


def _concrete(declared: str) -> str:
    """The media type that an encoding declares; "" if it declares none, several or a range."""
    return "" if "," in declared or "*" in declared else essence(declared)


def _check(name: str, part: str, text: str) -> None:
    """Refuse a text that parsers of multipart read in different ways. Raises ValueError."""
    if _UNSAFE.search(text) or not text.isprintable():
        message = 'has a character that cannot be written here: ", \\, %22, %0A, %0D or a control'
        raise ValueError(f"form field {name!r}: {part} {text!r} {message}")
