"""Templates: text with names in braces, `{token.name}`, from a closed list. Nothing is executed.

`{{` and `}}` are literal braces. If a name has no value in a request, the template has none, and
its edit is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from engine.exchange.environ_headers import environ_key
from engine.exchange.exchange import Exchange
from engine.relay.request_headers import NEVER_SENT
from engine.source.suggestion import near
from engine.spec.parameters.query_string import Query
from engine.values.errors import Malformed
from engine.values.http_names import HEADER_NAME

_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_HEADER, _QUERY = "request.header.", "request.query."
_ELEMENTS = "request.headers."
_LIST = re.compile(r"\{request\.headers\.([^{}]*)\}")
_TOKEN = re.compile(HEADER_NAME)


class TemplateValues(Struct, frozen=True):
    """The values for the templates of one request: the caller's request, and on the upstream's side
    the target. `target_path` is the path below the upstream's `url` before the edit."""

    exchange: Exchange
    upstream: str = ""
    target_model: str = ""
    target_path: str = ""


Read = Callable[[TemplateValues], str | None]
"""Reads the value of a name; None where the request has none."""


class TemplateError(ValueError):
    """A template that cannot be parsed; `hint` says what to write."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def _token_name(values: TemplateValues) -> str | None:
    caller = values.exchange.caller
    return None if caller is None else caller.name


def _token_team(values: TemplateValues) -> str | None:
    caller = values.exchange.caller
    return None if caller is None else caller.team or None


NAMES: Mapping[str, Read] = {
    "token.name": _token_name,
    "token.team": _token_team,
    "model": lambda values: values.exchange.model.name or None,
    "request.id": lambda values: values.exchange.request_id,
    "request.method": lambda values: values.exchange.method,
    "request.path": lambda values: values.exchange.path,
}
"""The names that every template may use, besides `request.header.X` and `request.query.X`."""

TARGET_NAMES: Mapping[str, Read] = {
    "target.model": lambda values: values.target_model or None,
    "target.path": lambda values: values.target_path,
    "upstream.name": lambda values: values.upstream,
}
"""The names that templates of the upstream's side may use as well."""


class Template:
    """A compiled template. `constant` is its text if it has no names, else None. `is_list`: it
    stands for the elements of a header (RFC 9110 5.6.1)."""

    __slots__ = ("_pieces", "constant", "is_list", "text")

    def __init__(self, text: str, pieces: tuple[str | Read, ...], *, is_list: bool = False) -> None:
        self.text = text
        self.is_list = is_list
        self._pieces = pieces
        plain = [piece for piece in pieces if isinstance(piece, str)]
        self.constant = "".join(plain) if len(plain) == len(pieces) else None

    def fill(
        self, values: TemplateValues, encode: Callable[[str, Read], str] | None = None
    ) -> str | None:
        """The text with its names filled in, None without a value. `encode` gets each value and the
        reader of its name."""
        if self.constant is not None:
            return self.constant
        filled = []
        for piece in self._pieces:
            if not isinstance(piece, str):
                value = piece(values)
                if value is None:
                    return None
                piece = value if encode is None else encode(value, piece)
            filled.append(piece)
        return "".join(filled)

    def elements(self, values: TemplateValues) -> list[str] | None:
        """The elements of the header that it stands for; None without any."""
        text = self.fill(values) or ""
        return [each for part in text.split(",") if (each := part.strip())] or None


def literal(text: str) -> Template:
    """A template of text in which braces have no meaning."""
    return Template(text, (text,))


def parse(text: str, *, upstream: bool) -> Template:
    """Compile a template of the `upstream`'s side or of the caller's. Raises TemplateError."""
    if elements := _LIST.fullmatch(text):
        return Template(text, (_reader(_HEADER + elements[1], upstream),), is_list=True)
    pieces: list[str | Read] = []
    at = 0
    for match in _PIECE.finditer(text):
        pieces.append(text[at : match.start()])
        at = match.end()
        if match[1] is not None:
            pieces.append(_reader(match[1], upstream))
        elif match[0] in ("{{", "}}"):
            pieces.append(match[0][0])
        else:
            message = f"a brace without its pair at character {match.start() + 1}"
            raise TemplateError(message, "write {{ and }} for braces")
    pieces.append(text[at:])
    return Template(text, tuple(piece for piece in pieces if piece != ""))


def _reader(name: str, upstream: bool) -> Read:
    if name in NAMES:
        return NAMES[name]
    if name in TARGET_NAMES:
        if upstream:
            return TARGET_NAMES[name]
        message = f"'{{{name}}}' is not known before a target is chosen"
        raise TemplateError(message, "move it to the transform of an upstream or a target")
    if name.startswith(_HEADER) and _TOKEN.fullmatch(header := name.removeprefix(_HEADER)):
        if header.lower() in NEVER_SENT:
            message = f"header '{header}' is never forwarded"
            raise TemplateError(message, "it carries the caller's token or address")
        return _header_reader(environ_key(header))
    if name.startswith(_QUERY) and (parameter := name.removeprefix(_QUERY)):
        return _query_reader(parameter)
    if name.startswith(_ELEMENTS):
        message = f"'{{{name}}}' is a list, and cannot be a part of a text"
        raise TemplateError(message, f"write '{{{_HEADER}...}}' for the text of the header")
    names = [*NAMES, *(TARGET_NAMES if upstream else ()), _HEADER + "NAME", _QUERY + "NAME"]
    message = f"a template has no name '{name}'"
    variables = ", ".join(f"{{{each}}}" for each in names)
    closest = near(name, names)
    otherwise = f"write {{{{ and }}}} for braces; known: {variables}"
    hint = f"did you mean {{{closest}}}?" if closest else otherwise
    raise TemplateError(message, hint)


def _header_reader(key: str) -> Read:
    def read(values: TemplateValues) -> str | None:
        value = values.exchange.header(key)
        return value if value is None or value.isascii() else _text(value)

    return read


def _text(value: str) -> str:
    """The text of a header that WSGI decoded as Latin-1: its bytes as UTF-8 if they are valid."""
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        return value


def _query_reader(name: str) -> Read:
    def read(values: TemplateValues) -> str | None:
        query = values.exchange.query
        if not query:
            return None
        try:
            return Query.parse(query).get(name)
        except Malformed:
            return None

    return read


def is_name(name: str) -> bool:
    """Whether a template can have this name, between its braces."""
    return name in NAMES or name in TARGET_NAMES or name.startswith((_HEADER, _QUERY, _ELEMENTS))


def has_template(value: Any) -> bool:
    """Whether a value of YAML has a brace in any of its strings."""
    if isinstance(value, str):
        return "{" in value or "}" in value
    if isinstance(value, dict):
        return any(map(has_template, value.values()))
    return isinstance(value, list) and any(map(has_template, value))
