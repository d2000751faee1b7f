"""Hints of `schema_breaches`: what to write in place of a value that the schema refuses.

A hint repeats a value only if it is a short plain word: it may be part of a secret.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.config import duration_bounds, likely_number, likely_value
from engine.config.keys import ANNOTATION
from engine.config.likely_value import flag, plain
from engine.source.suggestion import near, without_invisible
from engine.values.trees import Section, is_number

_LOCATIONS = (
    "write $request.body#/model, $request.path.NAME, $request.query.NAME or $request.header.NAME"
)
_TYPOGRAPHIC_QUOTES = "\u201c\u201d\u201e\u2018\u2019"

_FORMATS = {
    "duration": ("a duration", "a number and its unit: 250ms, 3s, 10m, 1h, 90d"),
    "size": ("a size", "a number and its unit: 512KB, 25MB, 1GiB"),
    "address": (
        "an address with a port",
        "write 127.0.0.1:8080, [::]:8080 or unix:/run/gateway.sock",
    ),
    "url": ("an HTTP URL", "write https://host/path"),
    "proxy": ("a URL of an HTTP proxy", 'write http://host:3128, or "" for none'),
    "sha256": (
        "a SHA-256",
        "64 hexadecimal digits in lower case; `modelway token new NAME` prints them",
    ),
    "date": ("a date", "write 2027-01-31, or 2027-01-31T12:00:00Z"),
    "rate": ("a number per time", "write 60/1m"),
    "money per time": ("money per time", "write 20 USD/30d or 20 USD/month"),
    "window": ("a window", "write 30d, or day, week or month"),
    "currency": ("a currency", "write its three capital letters: EUR"),
    "path prefix": ("a path prefix", "write /v1: it begins with a slash and ends without one"),
    "location": ("a location in a request", _LOCATIONS),
    "origin": ("an origin", "write https://app.example.com, or * for any"),
    "metrics path": ("a path", "write true, false, or another path: /internal/metrics"),
    "page path": ("a path", "write /health"),
    "service": ("the name of a service", "write _http._tcp.models.internal"),
    "duration or percentile": ("a duration or a percentile", "write 3s, or p50, p90, p95 or p99"),
    "key prefix": ("a prefix of keys", "write staging: letters, digits and . _ : -, at most 64"),
    "host": ("a name of a host", "write api.example.com or *.example.com, without port and path"),
    "header name": ("a header name", "letters, digits and -, as x-api-key"),
}
"""The formats of strings, by the annotation `format` or `unit` of their key, and what to write. The
`examples` of a key replace the second text."""

_MAPPINGS: tuple[tuple[str, Callable[[Any], str]], ...] = (
    ("enabled", lambda value: f"{{enabled: {flag(value) or 'true'}}}"),
    ("verify", lambda value: f"{{verify: {flag(value) or 'true'}}}"),
    ("fields", lambda value: '{format: "off"}' if flag(value) == "false" else "{format: json}"),
    ("level", lambda value: f"{{level: {_lower_case(value) or 'info'}}}"),
    ("bearer", lambda value: '{bearer: "${API_KEY}"}'),
    ("document", lambda value: f"{{document: {plain(value) or 'openapi/api.yaml'}}}"),
    ("fallback", lambda value: f"{{to: [{{upstream: {plain(value) or 'NAME'}}}]}}"),
    ("upstream", lambda value: f"{{upstream: {plain(value) or 'NAME'}}}"),
    ("origins", lambda value: "{origins: [https://app.example.com]}"),
    ("errors", lambda value: "{max_out: 0}" if flag(value) == "false" else "{errors: 0.5}"),
    ("healthy", lambda value: f"{{path: {plain(value) or '/health'}}}"),
    ("attempts", lambda value: f"{{attempts: {value if type(value) is int and value else 1}}}"),
    ("connect", lambda value: f"{{total: {likely_value.duration(value) or '10m'}}}"),
    ("url", lambda value: f"{{url: {plain(value) or 'https://host/path'}}}"),
    ("requests", lambda value: "{requests: 60, per: 1m}"),
    ("tokens", lambda value: "{tokens: 100000, per: 1d}"),
    ("amount", lambda value: "{amount: 20, per: month}"),
    ("endpoint", lambda value: f"{{endpoint: {plain(value) or 'http://localhost:4318'}}}"),
    ("set", lambda value: "{set: {NAME: VALUE}}"),
    ("wait", lambda value: f"{{size: {value if type(value) is int and value else 100}}}"),
    ("grace", lambda value: f"{{grace: {likely_value.duration(value) or '30s'}}}"),
    ("cached_input", lambda value: f"{{input: {_amount(value)}, output: ...}}"),
    ("away_after", lambda value: "its options here; the URL of Redis is written under 'counters'"),
)
"""Mappings by a key that only they have, with the mapping that a scalar in their place probably
means."""


def _amount(value: object) -> str:
    return str(value) if is_number(value) else "1"


def string_format(schema: Mapping[str, object]) -> str:
    """The format of a string of this schema, as `a duration`; "" if it has none."""
    name = _format(schema)
    return _FORMATS[name][0] if name else ""


def hint(key: str, value: Any, schema: Mapping[str, object], types: Sequence[str]) -> str:
    """What to write in place of `value`, which has another type than `types`, or another format."""
    if isinstance(value, str) and value[:1] in _TYPOGRAPHIC_QUOTES and value:
        return "these are typographic quotes; write plain ones"
    if "string" in types and (name := _unquoted_template(value)):
        return f'put it in quotes: "{{{name}}}"'
    if "boolean" in types and (word := flag(value)):
        return f"write {word}"
    if "number" in types or "integer" in types:
        return _number(key, value, schema, types)
    if "array" in types:
        return _list(key, value)
    if "object" in types:
        return _mapping(value, schema)
    if "string" in types or "pattern" in schema:
        return _string(key, value, schema)
    return ""


def _unquoted_template(value: object) -> str:
    """The name in a template without quotes, which YAML reads as a mapping: `{token.name}`."""
    names = [*value] if isinstance(value, dict) and list(value.values()) == [None] else [""]
    return str(names[0])


def example(schema: Mapping[str, object], types: Sequence[str]) -> str:
    """What to write in place of a value that comes from `${...}`: the value is not repeated."""
    if {"boolean", "number", "integer"} & set(types):
        return "${...} becomes a number, true or false only where it stands without quotes"
    return _form(schema) or _description(schema)


def choice(key: str, value: object, options: Sequence[object]) -> str:
    """The option of an `enum` that a value probably stands for."""
    if value is False and "off" in options:
        return 'write "off"'
    if "strict" in options and flag(value) == "true":
        return "write strict"
    if "off" in options and value in ("none", "no", "disabled"):
        return 'write "off"'
    if key == "token":
        return "write bearer or basic, or {header: NAME}, {query: NAME}, {cookie: NAME}"
    if key == "on" and isinstance(value, int) and 500 <= value < 600:
        return "write 5xx: it stands for all of them but 501, 505 to 508, 510 and 511"
    if not isinstance(value, str):
        return ""
    longer = [option for option in map(str, options) if value and option.startswith(value.lower())]
    if len(longer) == 1:
        return f"did you mean '{longer[0]}'?"
    option = near(value, map(str, options))
    return f"did you mean '{option}'?" if option else ""


def name(schema: Section) -> str:
    """What to write for a name that the schema of names refuses."""
    is_header = "$%&" in str(schema.get("pattern", ""))
    return f"a header name has {_FORMATS['header name'][1]}" if is_header else ""


def constant(key: str, value: object, expected: object) -> str:
    """What to write where the schema has a `const`."""
    if key == "auth":
        return "write none to serve callers without a token; leave it out to ask for one"
    return f"write {expected}" + (" without quotes" if str(value) == str(expected) else "")


def _notes(schema: Section) -> Mapping[str, object]:
    notes: Mapping[str, object] = schema.get(ANNOTATION, {})
    return notes


def _format(schema: Mapping[str, object]) -> str:
    """The row of _FORMATS for a string of this schema, "" for none."""
    notes = _notes(schema)
    name = str(notes.get("format", notes.get("unit", "")))
    return name if name in _FORMATS else ""


def _form(schema: Section) -> str:
    """What to write for a string of this schema, "" if it has no format."""
    name = _format(schema)
    if name and "examples" in schema:
        return f"write {schema['examples'][0]}"
    return _FORMATS[name][1] if name else ""


def _description(schema: Mapping[str, object]) -> str:
    return str(schema.get("description", ""))


def _lower_case(value: object) -> str:
    return value if isinstance(value, str) and value.islower() else ""


def _string(key: str, value: Any, schema: Mapping[str, object]) -> str:
    name = _format(schema)
    if text := likely_value.hint_for_format(name, value):
        return text
    if name == "duration":
        return _duration(key, value, schema)
    if name == "size":
        if is_number(value) and value < 1000:
            return f"write {value}MB, or another unit: KB, GB"
        size = likely_value.size(value)
        return f"write {size}" if size else _form(schema)
    if key == "operation" and isinstance(value, list):
        return "write a list under 'operations'"
    if spelling := _other_spelling(value, schema):
        return f"write {spelling}"
    if name:
        return _form(schema)
    if is_number(value) and "pattern" not in schema:
        return "put it in quotes"
    return _description(schema) if not isinstance(value, dict | list) else ""


def _other_spelling(value: object, schema: Mapping[str, object]) -> str:
    """A text that the schema accepts, with other letters or without blanks; "" if there is none."""
    text, pattern = str(value), str(schema.get("pattern", ""))
    if not isinstance(value, str) or not pattern:
        return ""
    spellings = (without_invisible(text), text.upper(), text.lower())
    return next((s for s in spellings if s != text and plain(s) and re.search(pattern, s)), "")


def _duration(key: str, value: object, schema: Mapping[str, object]) -> str:
    if key == "retention" and is_number(value):
        return f"write {value}d, or another unit: h, m, s"
    pattern = str(schema.get("pattern", ""))
    takes_ms = re.search(pattern, "1ms") is not None
    if milliseconds := likely_value.milliseconds(value):
        return f"write {milliseconds} if it is in milliseconds, or {value}s"
    duration = likely_value.duration(value, takes_ms=takes_ms)
    if not duration:
        return _form(schema)
    if re.search(pattern, duration) is None:
        return f"above zero: {_form(schema)}"
    if duration_bounds.breach(duration, schema):
        return f"write {duration_bounds.example(schema)}"
    units = ", or another unit: ms, m, h, d" if is_number(value) and takes_ms else ""
    return f"write {duration}{units}"


def _number(key: str, value: object, schema: Mapping[str, object], types: Sequence[str]) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "write a finite number, like 1"
    if not isinstance(value, str):
        return ""
    return likely_number.hint(key, value, schema, tuple(types))


def _list(key: str, value: object) -> str:
    if isinstance(value, dict):
        return "begin each entry with '- ', or write [{...}]"
    if is_number(value):
        return f"write [{value}]"
    names = [plain(name.strip()) for name in str(value).split(",")]
    if len(names) > 1 and all(names):
        return f"write [{', '.join(names)}]"
    word = plain(value)
    if not word:
        return 'write ["..."]'
    if key == "to":
        return f"write [{{upstream: {word}}}]"
    return f'write ["{word}"]' if word[0] in "*[]{}#@" else f"write [{word}]"


def _mapping(value: Any, schema: Section) -> str:
    properties = schema.get("properties", {})
    if isinstance(value, list):
        lists = [name for name, entry in properties.items() if entry.get("type") == "array"]
        return f"write {{{lists[0]}: [...]}}" if len(lists) == 1 == len(properties) else ""
    if not properties:
        return ""
    for key, mapping in _MAPPINGS:
        if key in properties:
            return f"write {mapping(value)}"
    return f"its keys: {', '.join(properties)}"
