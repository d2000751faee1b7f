"""What to write in place of a value that gateway.yaml does not take: the hints of `shape.check`.

A hint repeats a value only where it is short and plain: it may have come out of a secret.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.config import likely_value
from engine.source.suggestion import near

_DURATION = r"(ms|s|m|h|d)$"
_WHOLE_TIME = r"(s|m|h|d)$"
_SIZE = r"(B|KB|MB|GB|KiB|MiB|GiB)$"
_PLACES = (
    "write $request.body#/model, $request.path.NAME, $request.query.NAME or $request.header.NAME"
)
_UNIT = "a number and its unit: 250ms, 3s, 10m, 1h, 90d"
_QUOTES = "\u201c\u201d\u201e\u2018\u2019"

ELSEWHERE = {
    "port": "listen",
    "host": "listen",
    "bind": "listen",
    "address": "listen",
    "api_key": "credential",
    "apikey": "credential",
    "key": "credential",
    "auth": "credential",
    "base_url": "url",
    "endpoint": "url",
    "api_base": "url",
    "weights": "weight",
    "file": "document",
    "openapi": "document",
    "prefix": "mount",
    "methods": "operations",
    "path": "operations",
    "upstream": "to",
    "targets": "to",
    "backend": "to",
    "rate_limit": "policies",
    "name": "title",
}
"""What other programs call a key, by our name for it."""

_FORMS: dict[str, tuple[str, str]] = {
    "listen": (
        "an address with a port",
        "write 127.0.0.1:8080, [::]:8080 or unix:/run/gateway.sock",
    ),
    "url": ("a URL of http", "write https://host/path"),
    "endpoint": ("a URL of http", "write http://localhost:4318"),
    "base_url": ("a URL of http", "write https://models.example.com"),
    "proxy": ("a URL of an HTTP proxy", 'write http://host:3128, or "" for none'),
    "sha256": (
        "a SHA-256",
        "64 hexadecimal digits in lower case; `modelway token new NAME` prints them",
    ),
    "expires": ("a date", "write 2027-01-31, or 2027-01-31T12:00:00Z"),
    "rate": ("a number per time", "write 60/1m"),
    "token_budget": ("a number per time", "write 100000/1d"),
    "budget": ("money per time", "write 20 USD/30d"),
    "currency": ("a currency", "write its three capital letters: EUR"),
    "mount": ("a path prefix", "write /v1: it begins with a slash and ends without one"),
    "model": ("a place in a request", _PLACES),
    "from": ("a place in a request", _PLACES),
    "origins": ("an origin", "write https://app.example.com, or * for any"),
    "metrics": ("a path", "write true, false, or another path: /internal/metrics"),
    "header": ("a header name", "letters, digits and -, as x-api-key"),
}
"""What a key's pattern is for, and an example."""

_OBJECTS: tuple[tuple[str, Callable[[Any], str]], ...] = (
    ("enabled", lambda value: f"{{enabled: {likely_value.flag(value) or 'true'}}}"),
    ("verify", lambda value: f"{{verify: {likely_value.flag(value) or 'true'}}}"),
    (
        "fields",
        lambda value: (
            '{format: "off"}' if likely_value.flag(value) == "false" else "{format: json}"
        ),
    ),
    (
        "level",
        lambda value: (
            f"{{level: {value if isinstance(value, str) and value.islower() else 'info'}}}"
        ),
    ),
    ("bearer", lambda value: '{bearer: "${API_KEY}"}'),
    ("document", lambda value: f"{{document: {likely_value.plain(value) or 'openapi/api.yaml'}}}"),
    ("fallback", lambda value: f"{{to: [{{upstream: {likely_value.plain(value) or 'NAME'}}}]}}"),
    ("upstream", lambda value: f"{{upstream: {likely_value.plain(value) or 'NAME'}}}"),
    ("origins", lambda value: "{origins: [https://app.example.com]}"),
    ("attempts", lambda value: f"{{attempts: {value if type(value) is int and value else 1}}}"),
    ("connect", lambda value: f"{{total: {likely_value.duration(value, whole=False) or '10m'}}}"),
    ("url", lambda value: f"{{url: {likely_value.plain(value) or 'https://host/path'}}}"),
    ("requests", lambda value: "{requests: 60, per: 1m}"),
    ("tokens", lambda value: "{tokens: 100000, per: 1d}"),
    ("amount", lambda value: "{amount: 20, per: 30d}"),
    (
        "endpoint",
        lambda value: f"{{endpoint: {likely_value.plain(value) or 'http://localhost:4318'}}}",
    ),
    ("set", lambda value: "{set: {NAME: VALUE}}"),
)
"""A mapping by one of its keys, and what a value that is no mapping was meant to be."""


def form(key: str, schema: Mapping[str, Any]) -> str:
    """What a string of this schema is, in words: `a duration`; "" where that is not known."""
    pattern = str(schema.get("pattern", ""))
    if key in ("rate", "token_budget", "budget"):
        return _FORMS[key][0]
    if pattern.endswith((_DURATION, _WHOLE_TIME)):
        return "a duration"
    if pattern.endswith(_SIZE):
        return "a size"
    return _FORMS[key][0] if pattern and key in _FORMS else ""


def hint(key: str, value: Any, schema: Mapping[str, Any], types: Sequence[str]) -> str:
    """What to write in place of `value`, which is not one of `types`, or not of the right form."""
    if isinstance(value, str) and value[:1] in _QUOTES and value:
        return "these are typographic quotes; write plain ones"
    if "boolean" in types and (flag := likely_value.flag(value)):
        return f"write {flag}"
    if "number" in types or "integer" in types:
        return _number(value, schema)
    if "array" in types:
        return _list(key, value)
    if "object" in types:
        return _mapping(value, schema)
    if "string" in types or "pattern" in schema:
        return _string(key, value, schema)
    return ""


def example(key: str, schema: Mapping[str, Any], types: Sequence[str]) -> str:
    """The same without the value, which came out of `${...}`."""
    if {"boolean", "number", "integer"} & set(types):
        return "${...} becomes a number, true or false only where it stands without quotes"
    if form(key, schema) in ("a duration", "a size"):
        return _UNIT if form(key, schema) == "a duration" else "a size: 512KB, 25MB, 1GiB"
    return _FORMS[key][1] if key in _FORMS else str(schema.get("description", ""))


def choice(key: str, value: Any, options: Sequence[Any]) -> str:
    """The option that a value was meant to be."""
    if value is False and "off" in options:
        return 'write "off"'
    if key == "token":
        return "write bearer or basic, or {header: NAME}, {query: NAME}, {cookie: NAME}"
    if key == "on" and isinstance(value, int) and 500 <= value < 600:
        return "write 5xx: it stands for 500, 502, 503, 504 and 529"
    close = near(value, map(str, options)) if isinstance(value, str) else None
    return f"did you mean '{close}'?" if close else ""


def constant(key: str, value: Any, expected: Any) -> str:
    """What to write where only one value may stand."""
    if key == "auth":
        return "write none to serve callers without a token; leave it out to ask for one"
    return f"write {expected}" + (" without quotes" if str(value) == str(expected) else "")


def _string(key: str, value: Any, schema: Mapping[str, Any]) -> str:
    pattern = str(schema.get("pattern", ""))
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if words := likely_value.of_key(key, value):
        return words
    if pattern.endswith((_DURATION, _WHOLE_TIME)) and key not in _FORMS:
        whole = not pattern.endswith(_DURATION)
        if key == "retention" and number:
            return f"write {value}d, or another unit: h, m, s"
        right = likely_value.duration(value, whole=whole)
        more = ", or another unit: ms, m, h, d" if number and not whole else ""
        return f"write {right}{more}" if right else _UNIT
    if pattern.endswith(_SIZE):
        if number and value < 1000:
            return f"write {value}MB, or another unit: KB, GB"
        right = likely_value.size(value)
        return f"write {right}" if right else "a number and its unit: 512KB, 25MB, 1GiB"
    if key == "operation" and isinstance(value, list):
        return "write a list under 'operations'"
    if key in _FORMS and (pattern or not number):
        return _FORMS[key][1]
    if number and pattern == "":
        return "put it in quotes"
    return str(schema.get("description", "")) if not isinstance(value, dict | list) else ""


def _number(value: Any, schema: Mapping[str, Any]) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "write a finite number, like 1"
    if not isinstance(value, str):
        return ""
    match = re.fullmatch(r"[$€£]?\s*(\d+(?:[.,]\d+)?)\s*([%$€£]?)", value.strip())
    if match is None:
        return str(schema.get("description", ""))
    number = match[1].replace(",", ".")
    if match[2] == "%" and schema.get("maximum") == 1:
        number = f"{float(number) / 100:g}"
    return f"write {number} without quotes" if number == value else f"write {number}"


def _list(key: str, value: Any) -> str:
    if isinstance(value, dict):
        return "begin each entry with '- ', or write [{...}]"
    shown = likely_value.plain(value)
    if not shown:
        return 'write ["..."]'
    if key == "to":
        return f"write [{{upstream: {shown}}}]"
    return f'write ["{shown}"]' if shown[0] in "*[]{}#@" else f"write [{shown}]"


def _mapping(value: Any, schema: Mapping[str, Any]) -> str:
    properties = schema.get("properties", {})
    if isinstance(value, list) or not properties:
        return ""
    for key, written in _OBJECTS:
        if key in properties:
            return f"write {written(value)}"
    return f"its keys: {', '.join(properties)}"
