"""What to write in place of a value that gateway.yaml does not take: the hints of `shape.check`.

A hint repeats a value only where it is short and plain: it may have come out of a secret.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.problem import near

_DURATION = r"(ms|s|m|h|d)$"
_WHOLE_TIME = r"(s|m|h|d)$"
_SIZE = r"(B|KB|MB|GB|KiB|MiB|GiB)$"
_PARTS = re.compile(r"(\d+(?:\.\d+)?|\.\d+)\s*([a-zµ]*)\s*")
_UNITS = {
    "ms": ("ms", "msec", "msecs", "milli", "millis", "millisecond", "milliseconds"),
    "s": ("s", "sec", "secs", "second", "seconds", ""),
    "m": ("m", "min", "mins", "minute", "minutes"),
    "h": ("h", "hr", "hrs", "hour", "hours"),
    "d": ("d", "day", "days"),
}
_MILLISECONDS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_BYTES = {"b": "B", "k": "KB", "m": "MB", "g": "GB", "ki": "KiB", "mi": "MiB", "gi": "GiB"}
_YES, _NO = ("yes", "on", "true", "y", "1"), ("no", "off", "false", "n", "0")
_SAFE = re.compile(r"[A-Za-z0-9._:/@*$#{}\[\]-]{1,40}")
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
    ("enabled", lambda value: f"{{enabled: {_flag(value) or 'true'}}}"),
    ("verify", lambda value: f"{{verify: {_flag(value) or 'true'}}}"),
    ("fields", lambda value: '{format: "off"}' if _flag(value) == "false" else "{format: json}"),
    (
        "level",
        lambda value: (
            f"{{level: {value if isinstance(value, str) and value.islower() else 'info'}}}"
        ),
    ),
    ("bearer", lambda value: '{bearer: "${API_KEY}"}'),
    ("document", lambda value: f"{{document: {_plain(value) or 'openapi/api.yaml'}}}"),
    ("fallback", lambda value: f"{{to: [{{upstream: {_plain(value) or 'NAME'}}}]}}"),
    ("upstream", lambda value: f"{{upstream: {_plain(value) or 'NAME'}}}"),
    ("origins", lambda value: "{origins: [https://app.example.com]}"),
    ("attempts", lambda value: f"{{attempts: {value if type(value) is int and value else 1}}}"),
    ("connect", lambda value: f"{{total: {_duration(value, whole=False) or '10m'}}}"),
    ("url", lambda value: f"{{url: {_plain(value) or 'https://host/path'}}}"),
    ("requests", lambda value: "{requests: 60, per: 1m}"),
    ("tokens", lambda value: "{tokens: 100000, per: 1d}"),
    ("amount", lambda value: "{amount: 20, per: 30d}"),
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
    if "boolean" in types and (flag := _flag(value)):
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
    if key == "on" and isinstance(value, int) and 500 <= value < 600:
        return "write 5xx: it stands for 500, 502, 503, 504 and 529"
    meant = near(value, map(str, options)) if isinstance(value, str) else None
    return f"did you mean '{meant}'?" if meant else ""


def constant(key: str, value: Any, expected: Any) -> str:
    """What to write where only one value may stand."""
    if key == "auth":
        return "write none to serve callers without a token; leave it out to ask for one"
    return f"write {expected}" + (" without quotes" if str(value) == str(expected) else "")


def _string(key: str, value: Any, schema: Mapping[str, Any]) -> str:
    pattern = str(schema.get("pattern", ""))
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if key in _FORMS and (meant := _MEANT.get(key, _nothing)(value)):
        return meant
    if pattern.endswith((_DURATION, _WHOLE_TIME)) and key not in _FORMS:
        whole = not pattern.endswith(_DURATION)
        if key == "retention" and number:
            return f"write {value}d, or another unit: h, m, s"
        meant = _duration(value, whole=whole)
        more = ", or another unit: ms, m, h, d" if number and not whole else ""
        return f"write {meant}{more}" if meant else _UNIT
    if pattern.endswith(_SIZE):
        if number and value < 1000:
            return f"write {value}MB, or another unit: KB, GB"
        meant = _size(value)
        return f"write {meant}" if meant else "a number and its unit: 512KB, 25MB, 1GiB"
    if key == "operation" and isinstance(value, list):
        return "write a list under 'operations'"
    if key in _FORMS and (pattern or not number):
        return _FORMS[key][1]
    if number and pattern == "":
        return "put it in quotes"
    return str(schema.get("description", "")) if not isinstance(value, dict | list) else ""


def _nothing(value: Any) -> str:
    return ""


def _duration(value: Any, *, whole: bool) -> str:
    """`3 sec` -> `3s`, `1h30m` -> `90m`; "" for what is no time at all."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return ""
    text = str(value).strip().lower()
    if text in _UNITS["s"][1:-1] or text in _UNITS["m"][1:] or text in _UNITS["h"][1:]:
        text = f"1{text}"
    parts = _PARTS.findall(text)
    if not parts or "".join(a + b for a, b in parts) != re.sub(r"\s", "", text):
        return ""
    total = 0.0
    for number, word in parts:
        unit = next((unit for unit, words in _UNITS.items() if word in words), None)
        if unit is None:
            return ""
        if len(parts) == 1 and number.isdigit() and not (whole and unit == "ms"):
            return f"{int(number)}{unit}"
        total += float(number) * _MILLISECONDS[unit]
    for unit in ("d", "h", "m", "s", "ms"):
        if total >= _MILLISECONDS[unit] and total % _MILLISECONDS[unit] == 0:
            return "" if whole and unit == "ms" else f"{total / _MILLISECONDS[unit]:.0f}{unit}"
    return ""


def _size(value: Any) -> str:
    """`25 mb` -> `25MB`, `25000000` -> `25MB`."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        for factor, unit in ((10**9, "GB"), (10**6, "MB"), (1000, "KB")):
            if value and value % factor == 0:
                return f"{value // factor}{unit}"
        return f"{value}B"
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]?i?)(?:b|bytes?)?", str(value).strip().lower())
    return f"{match[1]}{_BYTES.get(match[2] or 'b', 'B')}" if match else ""


def _flag(value: Any) -> str:
    text = str(value).lower()
    return "true" if text in _YES else "false" if text in _NO else ""


def _plain(value: Any) -> str:
    """A value that may be repeated: a short word."""
    return value if isinstance(value, str) and _SAFE.fullmatch(value) else ""


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
    shown = _plain(value)
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


def _listen(value: Any) -> str:
    text = str(value)
    if text.lstrip(":").isdigit() and int(text.lstrip(":")) < 65_536:
        return (
            f"write 127.0.0.1:{text.lstrip(':')}, or 0.0.0.0:{text.lstrip(':')} for all addresses"
        )
    if "://" in text and _SAFE.fullmatch(text):
        return f"write {text.partition('://')[2].rstrip('/')}"
    return f"write {text}:8080" if re.fullmatch(r"[a-z0-9.-]*[a-z0-9]", text) else ""


def _url(value: Any) -> str:
    text = _plain(value)
    host, _, rest = text.partition(":")
    if not text or "://" in text or text[0] in "/$":
        return ""
    local = host.split("/")[0] in ("localhost", "127.0.0.1") or rest[:1].isdigit()
    return f"write {'http' if local else 'https'}://{text}"


def _sha256(value: Any) -> str:
    text = str(value)
    if re.fullmatch(r"[0-9A-Fa-f]{64}", text):
        return "put it in quotes" if not isinstance(value, str) else "write it in lower case"
    if isinstance(value, float):
        return "put it in quotes"
    if re.fullmatch(r"sha-?256[:-][0-9A-Fa-f]{64}", text.lower()):
        return "write its 64 digits alone, without 'sha256:'"
    if text.startswith("mw-"):
        return (
            "this looks like the secret itself: make a new one with `modelway token new NAME`, "
            "and put the SHA-256 that it prints here"
        )
    return f"it has {len(text)} characters; 64 hexadecimal digits are needed"


def _expires(value: Any) -> str:
    text = str(value).strip()
    if text.lower() in ("never", "none", "no", "false", "null", ""):
        return "leave 'expires' out for a token that does not expire"
    if match := re.fullmatch(r"(\d{1,2})[./](\d{1,2})[./](\d{4})", text):
        day, month = (match[1], match[2]) if int(match[2]) <= 12 else (match[2], match[1])
        return f"write {match[3]}-{int(month):02}-{int(day):02}"
    return ""


def _rate(value: Any) -> str:
    match = re.fullmatch(r"(\d+)\s*(?:(?:/|per)\s*(.+))?", str(value).strip())
    if match is None:
        return ""
    per = _duration(match[2], whole=True) if match[2] else ""
    return f"write {match[1]}/{per or '1m'}"


def _currency(value: Any) -> str:
    signs = {"$": "USD", "€": "EUR", "£": "GBP"}
    text = str(value)
    meant = signs.get(text, text.upper() if re.fullmatch(r"[a-zA-Z]{3}", text) else "")
    return f"write {meant}" if meant else ""


def _mount(value: Any) -> str:
    text = _plain(value).strip("/")
    if not str(value).strip("/"):
        return "leave it out to serve the document under the path of its own server URL"
    return f"write /{text}" if re.fullmatch(r"[A-Za-z0-9._/-]+", text) else ""


def _place(value: Any) -> str:
    match = re.fullmatch(r"\$?\.?(?:request\.)?(?:body)?[#./]*([A-Za-z_]\w*)", str(value))
    return f"write $request.body#/{match[1]}" if match and match[1] != "body" else ""


def _origin(value: Any) -> str:
    match = re.fullmatch(r"(https?://)?([a-zA-Z0-9.-]+(?::\d+)?)(/.*)?", str(value))
    return f"write {match[1] or 'https://'}{match[2].lower()}" if match else ""


_MEANT: dict[str, Callable[[Any], str]] = {
    "listen": _listen,
    "url": _url,
    "endpoint": _url,
    "base_url": _url,
    "proxy": lambda value: f"write http://{value}" if _url(value) else "",
    "sha256": _sha256,
    "expires": _expires,
    "rate": _rate,
    "token_budget": _rate,
    "currency": _currency,
    "mount": _mount,
    "model": _place,
    "from": _place,
    "origins": _origin,
    "metrics": lambda value: f"write {_flag(value)}" if _flag(value) else "",
}
"""What a value of a key was probably meant to be."""
