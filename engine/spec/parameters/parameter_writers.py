"""Parameter writers: a value becomes the text of a request, in every style of OpenAPI.

They are the reverse of `parameter_readers.py` (RFC 6570; OpenAPI 3.1.1, "Style Examples"): whatever
is written is read as the same value. A value that its style cannot express is a ValueError, never
another value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import replace

from engine.spec.parameters.parameter_readers import style_of
from engine.values.media_types import is_json

_DELIMITERS = {"spaceDelimited": " ", "pipeDelimited": "|", "ssv": " ", "tsv": "\t", "pipes": "|"}
"""What stands between the items of a list in one text; a comma in the other styles."""
_ENCODED = frozenset(_DELIMITERS.values())
"""Delimiters that are percent-encoded, so that an item cannot contain them."""
_UNRESERVED = re.compile(r"[A-Za-z0-9_.~-]*")
"""A text that percent-encoding does not change (RFC 3986 2.3)."""
_COOKIE_NAME = re.compile(r"[!#$%'*+.^`|~\w-]+", re.ASCII)
"""A token of RFC 9110, which names of cookies are; `&` would end one in the style `form`."""

Pair = tuple[str, str]


class ParameterWriter(Struct, frozen=True):
    """Writes the values of one parameter. `style` and `explode` as for `compile_reader`, completed;
    `media_type` is that of a `content` parameter, "" for others. `has_slashes`: a variable of a
    path that may contain slashes. `lead` is what stands before the encoded text of a value that is
    no list or object, None if that is not all of its text. `others` are the names of the other
    parameters of its location, which no member of an object may have."""

    name: str
    location: str
    style: str
    explode: bool
    media_type: str = ""
    has_slashes: bool = False
    lead: str | None = None
    others: frozenset[str] = frozenset()

    def write(self, value: Any) -> str | None:
        """The text of a value: of a path's variable, a part of a query string, the value of a
        header, or a part of a Cookie header; None for a list or object without any text, which
        no style can express. Raises ValueError."""
        if self.lead is not None:
            text = value if type(value) is str else _SIMPLE.get(type(value), _no_text)(value)
            if text is not None and _UNRESERVED.fullmatch(text):  # nearly every value
                return self.lead + text
        if self.media_type:
            is_json_text = is_json(self.media_type) or isinstance(value, Mapping | list | tuple)
            value = json.dumps(value) if is_json_text else self._text(value)
        if isinstance(value, Mapping | list | tuple) and not value:
            return None
        if self.location in ("path", "header") and self.style != "matrix":
            return self._unnamed(value)
        return self._joined([*self._pairs(value)]) or None

    def _joined(self, pairs: Sequence[Pair]) -> str:
        if self.style == "matrix":
            return "".join(f";{name}={text}" if text else f";{name}" for name, text in pairs)
        separator = "; " if self.style == "cookie" else "&"
        return separator.join(f"{name}={text}" for name, text in pairs)

    def _unnamed(self, value: object) -> str:
        """A text without the parameter's name: `a,b` and `k=v,k=v`, in the style `label` `.a.b`."""
        delimiter = self._delimiter()
        if self.style == "label":
            delimiter = "." if self.explode else ","
        if isinstance(value, Mapping) and self.explode:
            forbidden = f"{delimiter}="
            parts = [
                f"{self._encoded(k, forbidden)}={self._encoded(v, delimiter)}"
                for k, v in value.items()
            ]
        else:
            parts = self._parts(value, delimiter)
        text = self._joint(delimiter).join(parts)
        return f".{text}" if self.style == "label" else text

    def _pairs(self, value: object) -> Iterator[Pair]:
        """The names and texts of a value, each of which is sent with its name."""
        if self.style == "deepObject":
            yield from self._deep(self.name, value)
        elif isinstance(value, Mapping) and self.explode:
            for key, each in value.items():
                self._check_name(key)
                yield self._encoded_name(key), self._encoded(each)
        elif isinstance(value, list | tuple) and self.explode:
            yield from ((self._encoded_name(self.name), self._encoded(item)) for item in value)
        else:
            parts = self._parts(value, self._delimiter())
            yield self._encoded_name(self.name), self._joint(self._delimiter()).join(parts)

    def _deep(self, name: str, value: object) -> Iterator[Pair]:
        """`name[a][b]=x`; the items of a list are `name[]`, or have numbers if they are not texts:
        Rack and PHP take the last of several `name`, and all of these."""
        if isinstance(value, Mapping):
            for key, below in value.items():
                if "[" in key or "]" in key:
                    raise self._problem(f"the name '{key}' cannot be written in brackets")
                yield from self._deep(f"{name}[{key}]", below)
        elif isinstance(value, list | tuple):
            nested = any(isinstance(item, Mapping | list | tuple) for item in value)
            for number, item in enumerate(value):
                yield from self._deep(f"{name}[{number if nested else ''}]", item)
        else:
            self._check_name(name)
            yield quote(name, safe=""), self._encoded(value)

    def _check_name(self, name: str) -> None:
        """Refuse the name of a member that stands for another parameter: an agent could give one
        that the config hides from it or has fixed."""
        if name in self.others or name.partition("[")[0] in self.others:
            raise self._problem(f"its member '{name}' would be the parameter of that name")

    def _parts(self, value: object, delimiter: str) -> list[str]:
        """The encoded items of a list, names and values of an object, or the only text."""
        if isinstance(value, Mapping):
            value = [part for pair in value.items() for part in pair]
        if isinstance(value, list | tuple):
            return [self._encoded(item, delimiter) for item in value]
        return [self._encoded(value)]

    def _encoded_name(self, name: str) -> str:
        """The name of a text. Those of cookies are not percent-encoded."""
        if self.location != "cookie":
            return quote(name, safe="")
        if not _COOKIE_NAME.fullmatch(name):
            raise self._problem(f"a cookie cannot have the name '{name}'")
        return name

    def _encoded(self, value: object, delimiters: str = "") -> str:
        """A primitive value, encoded so that none of the delimiters occurs in it."""
        text = self._text(value)
        is_raw = self.location == "header" or self.style == "cookie"
        if is_raw:
            delimiters += "" if self.location == "header" else ";"
            if not (text.isascii() and text.isprintable()) or text != text.strip():
                raise self._problem("a text here has only visible ASCII, without spaces around it")
        cannot = delimiters if is_raw else _ENCODED.intersection(delimiters)
        if delimiter := next((char for char in cannot if char in text), ""):
            raise self._problem(f"a text in it contains {delimiter!r}, which separates texts here")
        if is_raw:
            return text
        encoded = quote(text, safe="/" if self.has_slashes else "")
        return encoded.replace(".", "%2E") if self.style == "label" else encoded

    def _text(self, value: object) -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, bool | int | float):
            return json.dumps(value)
        kind = "null" if value is None else "a list or object"
        raise self._problem(f"{kind} cannot be written here in the style '{self.style}'")

    def _delimiter(self) -> str:
        return _DELIMITERS.get(self.style, ",")

    def _joint(self, delimiter: str) -> str:
        """A delimiter as it stands between texts."""
        return (
            quote(delimiter) if delimiter in _ENCODED and self.location != "header" else delimiter
        )

    def _problem(self, message: str) -> ValueError:
        return ValueError(f"{self.location} parameter '{self.name}': {message}")


def parameter_writer(
    name: str,
    location: str,
    style: str | None = None,
    explode: bool | None = None,
    media_type: str = "",
    *,
    has_slashes: bool = False,
) -> ParameterWriter:
    """The writer of a parameter; the arguments are those of `compile_reader`. Raises ValueError for
    an unknown location, or a style that it does not have."""
    style, explode = style_of(location, style, explode)
    lead = None
    if not media_type and location == "query":
        lead = f"{quote(name, safe='')}="
    elif not media_type and location == "path" and style == "simple":
        lead = ""
    return ParameterWriter(name, location, style, explode, media_type, has_slashes, lead)


def apart(writer: ParameterWriter, names: Collection[str]) -> ParameterWriter:
    """The writer of one of the parameters of a location, which have these names. Servers read
    `a[]` and `a[b]` as `a`."""
    base = writer.name.partition("[")[0]
    bases = (name.partition("[")[0] for name in names)
    return replace(writer, others=frozenset((*names, *bases)) - {writer.name, base})


def _boolean(value: bool) -> str:
    return "true" if value else "false"


def _no_text(value: object) -> None:
    """For a value whose text is not simple."""


_SIMPLE: Mapping[type, Callable[[Any], str | None]] = {bool: _boolean, int: str}
"""What makes the text of a value that is not a string."""
