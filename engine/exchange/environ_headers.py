"""Reading a WSGI environ (PEP 3333): names of headers, lists in headers, WebSocket requests; and
the headers of a request as transforms edit them for an upstream.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any

from engine.exchange.exchange import Exchange

SINGLE_HEADERS = frozenset(
    {"host", "content-type", "content-length", "content-location", "content-range", "location"}
    | {"date", "from", "referer", "user-agent", "max-forwards", "range", "if-range", "origin"}
    | {"if-modified-since", "if-unmodified-since", "authorization", "proxy-authorization"}
    | {"idempotency-key", "x-api-key", "api-key", "x-goog-api-key", "x-goog-user-project"}
    | {"anthropic-version", "openai-organization", "openai-project"}
)
"""Request headers that are no list (RFC 9110, RFC 6454, and the vendors' documents). A request that
repeats one with another value is refused; any other header that is repeated is a list."""

_STRING = re.compile(r'"(?:[^"\\]|\\.)*+("?)', re.DOTALL)
"""A string, which may lack its end: then so do all that might begin behind it, and a search that
began again at each quotation mark would take the square of the length."""
_ELEMENT = re.compile(r'(?:"(?:[^"\\]|\\.)*+"|[^",])++')
_LITERAL = "\0"
"""Stands for a quotation mark that begins no string: no header has this character."""


_READ_WITH_DASH = frozenset({"session_id", "conversation_id", "thread_id"})
"""Names with an underscore that coding agents send for the ones with a dash."""


RANGES = ("range", "if-range")
"""The headers that ask for a part of a response, in which nothing could be edited or judged:
servers may ignore them (RFC 9110 14.2)."""
_RANGE_KEYS = frozenset({"HTTP_RANGE", "HTTP_IF_RANGE"})


@lru_cache(maxsize=512)
def environ_key(header: str) -> str:
    """The WSGI name of a header: `x-api-key` -> `HTTP_X_API_KEY`. A name with an underscore has one
    of its own, in lower case, so that it never stands for the name with a dash: `api_key` ->
    `HTTP_api_key`."""
    if "_" in header and header.lower() not in _READ_WITH_DASH:
        return f"HTTP_{header.lower()}"
    name = header.upper().replace("-", "_")
    return name if name in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{name}"


def without_ranges(environ: Mapping[str, Any]) -> Mapping[str, Any]:
    """The environ of a request for a whole response."""
    if environ.keys().isdisjoint(_RANGE_KEYS):
        return environ
    return {key: value for key, value in environ.items() if key not in _RANGE_KEYS}


def header_name(key: str) -> str:
    """The header with this WSGI name: what `environ_key` gives it for."""
    name = key.removeprefix("HTTP_")
    return name if name.islower() else name.replace("_", "-").lower()


def comma_separated(header: str | None) -> list[str]:
    """The elements of a list-valued header in lower case (RFC 9110 5.6.1)."""
    return [element.strip().lower() for element in (header or "").split(",")]


def header_elements(header: str) -> list[str]:
    """The elements of a list-valued header as sent (RFC 9110 5.6.1); a quoted string is given
    without its quotes. A quotation mark without a second one is part of an element."""
    strings = _STRING.finditer(header)
    end = next((string.start() for string in strings if not string[1]), len(header))
    text = header[:end] + header[end:].replace('"', _LITERAL)
    elements = (match[0].strip() for match in _ELEMENT.finditer(text))
    return [_unquoted(element).replace(_LITERAL, '"') for element in elements if element]


def _unquoted(element: str) -> str:
    if len(element) < 2 or element[0] != '"' or element[-1] != '"':
        return element
    return re.sub(r"\\(.)", r"\1", element[1:-1])


def wants_websocket(environ: Mapping[str, Any]) -> bool:
    """Whether a request is a WebSocket handshake (RFC 6455 4.1), even if a proxy has removed
    `Upgrade`."""
    return environ.get("REQUEST_METHOD") == "GET" and (
        "HTTP_SEC_WEBSOCKET_KEY" in environ
        or "websocket" in comma_separated(environ.get("HTTP_UPGRADE"))
    )


def with_edited_headers(exchange: Exchange, names: Collection[str]) -> Exchange:
    """The request with these headers after the edits of transforms; the same object if there are
    none. Names are in lower case. Raises GatewayError 400 for a value that is not valid in a
    header."""
    edits = exchange.edits
    if edits is None or edits.headers is None:
        return exchange
    environ = dict(exchange.environ)
    values = ((name, environ.pop(environ_key(name), None)) for name in names)
    fields = [(name, value) for name, value in values if value is not None]
    for name, value in edits.headers(fields):
        if name in names:
            environ[environ_key(name)] = value
    edited = copy.copy(exchange)
    edited.environ = environ
    return edited
