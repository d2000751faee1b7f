"""Writes urlencoded forms: the reverse of `form_bodies.compile_form`, as documents describe the
fields (OpenAPI 3.1.1, "Encoding Object")."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from engine.spec.bodies.form_bodies import Encoding
from engine.spec.parameters.parameter_writers import parameter_writer
from engine.values.media_types import is_json


def write_form(values: Mapping[str, Any], encoding: Encoding) -> bytes:
    """The body of these fields. None is the same as no value. A list or object whose `encoding`
    names no style is written as most servers read it: a list repeats its name, an object has
    brackets. Raises ValueError with the name of a field."""
    encodings = encoding or {}
    texts = (_texts(name, value, encodings.get(name, {})) for name, value in values.items())
    return "&".join(text for each in texts for text in each).encode()


def _texts(name: str, value: Any, encoding: Mapping[str, Any]) -> Iterator[str]:
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
    text = parameter_writer(name, "form", style, explode).write(value)
    if text is not None:
        yield text


def has_objects(value: object) -> bool:
    """Whether a value has parts that only brackets can name: it is an object, or a list of lists
    or objects."""
    items = value if isinstance(value, list | tuple) else ()
    return isinstance(value, Mapping) or any(isinstance(i, Mapping | list | tuple) for i in items)
