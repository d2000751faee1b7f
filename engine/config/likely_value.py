"""The valid value that an invalid one probably means: `3s` for `3 sec`, `25MB` for `25 mb`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_PARTS = re.compile(r"(\d+(?:\.\d+)?|\.\d+)\s*([a-zµ]*)\s*")

_UNITS = {
    "ms": ("ms", "msec", "msecs", "milli", "millis", "millisecond", "milliseconds"),
    "s": ("s", "sec", "secs", "second", "seconds", ""),
    "m": ("m", "min", "mins", "minute", "minutes"),
    "h": ("h", "hr", "hrs", "hour", "hours"),
    "d": ("d", "day", "days"),
}
_PERIODS = {
    "day": ("day", "daily", "calendar day"),
    "week": ("week", "weekly", "1 week", "1w", "calendar week"),
    "month": ("month", "monthly", "1 month", "1mo", "mo", "calendar month"),
}
_MILLISECONDS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}

_BYTES = {"b": "B", "k": "KB", "m": "MB", "g": "GB", "ki": "KiB", "mi": "MiB", "gi": "GiB"}

_SAFE = re.compile(r"[A-Za-z0-9._:/@*$#{}\[\]-]{1,40}")

_YES, _NO = ("yes", "on", "true", "y", "1"), ("no", "off", "false", "n", "0")


def is_number(value: Any) -> bool:
    """Whether a YAML value is a number (true and false are not)."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def duration(value: Any, *, takes_ms: bool = True) -> str:
    """`3s` for `3 sec`, `90m` for `1h30m`; "" for a value that is no duration.

    Without `takes_ms` the result has no `ms`.
    """
    if not (is_number(value) or isinstance(value, str)):
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
        if len(parts) == 1 and number.isdigit() and (takes_ms or unit != "ms"):
            return f"{int(number)}{unit}"
        total += float(number) * _MILLISECONDS[unit]
    for unit in ("d", "h", "m", "s", "ms"):
        if total >= _MILLISECONDS[unit] and total % _MILLISECONDS[unit] == 0:
            return f"{total / _MILLISECONDS[unit]:.0f}{unit}" if takes_ms or unit != "ms" else ""
    return ""


def size(value: Any) -> str:
    """`25MB` for `25 mb` and for `25000000`; "" for a value that is no size."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        for factor, unit in ((10**9, "GB"), (10**6, "MB"), (1000, "KB")):
            if value and value % factor == 0:
                return f"{value // factor}{unit}"
        return f"{value}B"
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]?i?)(?:b|bytes?)?", str(value).strip().lower())
    return f"{match[1]}{_BYTES.get(match[2] or 'b', 'B')}" if match else ""


def flag(value: Any) -> str:
    """`true` for `yes`, `false` for `off`, and so on; "" for other values."""
    text = str(value).lower()
    return "true" if text in _YES else "false" if text in _NO else ""


def plain(value: Any) -> str:
    """The value if a hint may repeat it (a short word without blanks), else ""."""
    return value if isinstance(value, str) and _SAFE.fullmatch(value) else ""


def _listen(value: Any) -> str:
    text = str(value)
    if text.startswith("/"):
        return f"write unix:{plain(text)}" if plain(text) else ""
    if text.lstrip(":").isdigit() and int(text.lstrip(":")) < 65_536:
        return (
            f"write 127.0.0.1:{text.lstrip(':')}, or 0.0.0.0:{text.lstrip(':')} for all addresses"
        )
    if "://" in text and _SAFE.fullmatch(text):
        return f"write {text.partition('://')[2].rstrip('/')}"
    return f"write {text}:8080" if re.fullmatch(r"[a-z0-9.-]*[a-z0-9]", text) else ""


def _url(value: Any) -> str:
    text = plain(value)
    host, _, port = text.partition(":")
    if not text or "://" in text or text[0] in "/$":
        return ""
    local = host.split("/")[0] in ("localhost", "127.0.0.1") or port[:1].isdigit()
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


def _window(value: Any) -> str:
    """`month` for `monthly`, `30d` for `30 days`; "" for a value that is no window."""
    text = str(value).strip().lower()
    period = next((period for period, words in _PERIODS.items() if text in words), "")
    return period or duration(value, takes_ms=False)


def _rate(value: Any) -> str:
    match = re.fullmatch(r"(\d+)\s*(?:(?:/|per)\s*(.+))?", str(value).strip())
    if match is None:
        return ""
    per = _window(match[2]) if match[2] else ""
    return f"write {match[1]}/{per or '1m'}"


def _currency(value: Any) -> str:
    signs = {"$": "USD", "€": "EUR", "£": "GBP"}
    text = str(value)
    code = signs.get(text, text.upper() if re.fullmatch(r"[a-zA-Z]{3}", text) else "")
    return f"write {code}" if code else ""


def _mount(value: Any) -> str:
    text = plain(value).strip("/")
    if not str(value).strip("/"):
        return "leave it out to serve the document under the path of its own server URL"
    return f"write /{text}" if re.fullmatch(r"[A-Za-z0-9._/-]+", text) else ""


def _place(value: Any) -> str:
    if match := re.fullmatch(r"\$request\.(header|query|path)\.?", str(value)):
        return f"write $request.{match[1]}.NAME"
    match = re.fullmatch(r"\$?\.?(?:request\.)?(?:body)?[#./]*([A-Za-z_]\w*)", str(value))
    return f"write $request.body#/{match[1]}" if match and match[1] != "body" else ""


def _origin(value: Any) -> str:
    match = re.fullmatch(r"(https?://)?([a-zA-Z0-9.-]+(?::\d+)?)(/.*)?", str(value))
    return f"write {match[1] or 'https://'}{match[2].lower()}" if match else ""


_OF_FORMAT: dict[str, Callable[[Any], str]] = {
    "address": _listen,
    "url": _url,
    "proxy": lambda value: f"write http://{value}" if _url(value) else "",
    "sha256": _sha256,
    "date": _expires,
    "rate": _rate,
    "window": lambda value: f"write {_window(value)}" if _window(value) else "",
    "currency": _currency,
    "path prefix": _mount,
    "place": _place,
    "origin": _origin,
    "metrics path": lambda value: f"write {flag(value)}" if flag(value) else "",
}
"""Hints by format."""


def hint_for_format(name: str, value: Any) -> str:
    """What to write instead of a value, in the format `name`; "" if its meaning is unclear."""
    hint = _OF_FORMAT.get(name)
    return hint(value) if hint is not None else ""
