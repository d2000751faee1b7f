"""The valid value that an invalid one probably means: `3s` for `3 sec`, `25MB` for `25 mb`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from engine.source.suggestion import near
from engine.values.trees import is_number
from engine.values.units import format_count

_PARTS = re.compile(r"(\d+(?:\.\d+)?|\.\d+)\s*([a-zµ]*)\s*")

_UNITS = {
    "ms": ("ms", "msec", "msecs", "milli", "millis", "millisecond", "milliseconds"),
    "s": ("s", "sec", "secs", "second", "seconds", ""),
    "m": ("m", "min", "mins", "minute", "minutes"),
    "h": ("h", "hr", "hrs", "hour", "hours"),
    "d": ("d", "day", "days"),
}
_LONG_UNITS = {
    "w": ("w", "wk", "wks", "week", "weeks"),
    "mo": ("mo", "mon", "month", "months"),
    "y": ("y", "yr", "yrs", "year", "years"),
}
"""Units that a duration does not have: their days are meant."""
_PERIODS = {
    "day": ("day", "daily", "calendar day"),
    "week": ("week", "weekly", "1 week", "1w", "calendar week"),
    "month": ("month", "monthly", "1 month", "1mo", "mo", "calendar month"),
}
_MILLISECONDS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_DAYS = {"w": 7, "mo": 30, "y": 365}
_ISO_8601 = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?", re.IGNORECASE)
_CLOCK = re.compile(r"(\d{1,3}):(\d\d):(\d\d)")
_MAX_IN_SECONDS = 120_000
"""Up to these milliseconds, a number of milliseconds is suggested in seconds."""

_BYTES = {"b": "B", "k": "KB", "m": "MB", "g": "GB", "ki": "KiB", "mi": "MiB", "gi": "GiB"}

_SIZES = (
    *((10**9, "GB"), (10**6, "MB"), (2**30, "GiB"), (2**20, "MiB")),
    *((1000, "KB"), (2**10, "KiB")),
)

_SAFE = re.compile(r"[A-Za-z0-9._:/@*$#{}\[\]-]{1,40}")

_SIGNS = {"$": "USD", "€": "EUR", "£": "GBP"}

_VARIABLE = re.compile(
    r"(?:Bearer\s+)?(?:os\.environ/|\$env:|env:|env\.|process\.env\.|ENV\[|\$\(|%|\$?\{+\s*|\$)"
    r"(?:env\.|secrets\.|vars\.|\.Values\.|vault:)?(?P<name>[A-Z][A-Z0-9_]*)\s*(?:\}+|\)|%|\])?"
)
"""A variable in the syntax of other programs: shells, LiteLLM, Caddy, GitHub, Helm, Windows."""

_YES, _NO = ("yes", "on", "true", "y", "1"), ("no", "off", "false", "n", "0")


def duration(value: object, *, takes_ms: bool = True) -> str:
    """`3s` for `3 sec`, `90m` for `1h30m`; "" for a value that is not a duration.

    Without `takes_ms` the result has no `ms`.
    """
    if not (is_number(value) or isinstance(value, str)):
        return ""
    text = _in_units(str(value).strip()).lower()
    if text in _UNITS["s"][1:-1] or text in _UNITS["m"][1:] or text in _UNITS["h"][1:]:
        text = f"1{text}"
    parts = _PARTS.findall(text)
    if not parts or "".join(a + b for a, b in parts) != re.sub(r"\s", "", text):
        return ""
    total = 0.0
    for number, word in parts:
        days = next((_DAYS[unit] for unit, words in _LONG_UNITS.items() if word in words), 0)
        if days:
            total += float(number) * days * _MILLISECONDS["d"]
            continue
        unit = next((unit for unit, words in _UNITS.items() if word in words), None)
        if unit is None:
            return ""
        if len(parts) == 1 and number.isdigit() and (takes_ms or unit != "ms"):
            return f"{int(number)}{unit}"
        total += float(number) * _MILLISECONDS[unit]
    return _of_milliseconds(total, takes_ms=takes_ms)


def _in_units(text: str) -> str:
    """`10m` for `PT10M` (ISO 8601) and for `00:10:00`; other text unchanged."""
    if (match := _ISO_8601.fullmatch(text)) and any(match.groups()):
        return "".join(f"{n}{unit}" for n, unit in zip(match.groups(), "dhms", strict=True) if n)
    if match := _CLOCK.fullmatch(text):
        pairs = zip(match.groups(), "hms", strict=True)
        return "".join(f"{int(n)}{unit}" for n, unit in pairs if int(n)) or "0s"
    return text


def milliseconds(value: object) -> str:
    """`60s` for 60000: the duration of a large number without a unit, if it is in milliseconds, as
    many programs write durations; "" for other values."""
    text = str(value)
    if not is_number(value) and not isinstance(value, str):
        return ""
    if re.fullmatch(r"[1-9][0-9]{3,8}", text) is None:
        return ""
    number = int(text)
    if number <= _MAX_IN_SECONDS and number % 1000 == 0:
        return f"{number // 1000}s"
    return _of_milliseconds(number)


def _of_milliseconds(total: float, *, takes_ms: bool = True) -> str:
    """A duration in its largest unit, "" for one that has none."""
    for unit in ("d", "h", "m", "s", "ms"):
        if total >= _MILLISECONDS[unit] and total % _MILLISECONDS[unit] == 0:
            return f"{total / _MILLISECONDS[unit]:.0f}{unit}" if takes_ms or unit != "ms" else ""
    return ""


def size(value: Any) -> str:
    """`25MB` for `25 mb` and for `25000000`; "" for a value that is not a size."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        for factor, unit in _SIZES:
            if value and value % factor == 0:
                return f"{value // factor}{unit}"
        return f"{value}B"
    text = re.sub(
        r"(kilo|mega|giga)(?=bytes?)", lambda word: word[0][0], str(value).strip().lower()
    )
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]?i?)(?:b|bytes?)?", text)
    return f"{match[1]}{_BYTES.get(match[2] or 'b', 'B')}" if match else ""


def flag(value: object) -> str:
    """`true` for `yes`, `false` for `off`, and so on; "" for other values."""
    text = str(value).lower()
    return "true" if text in _YES else "false" if text in _NO else ""


def variable(value: Any) -> str:
    """`${VAR}` for `$VAR`, `os.environ/VAR`, `{env.VAR}`, `${{ secrets.VAR }}` and the like; "" for
    other text."""
    match = _VARIABLE.fullmatch(str(value).strip().strip("\"'"))
    return f"${{{match['name']}}}" if match else ""


def plain(value: Any) -> str:
    """The value if a hint may repeat it (a short word without blanks), else ""."""
    return value if isinstance(value, str) and _SAFE.fullmatch(value) else ""


def _listen(value: object) -> str:
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


def _url(value: object) -> str:
    raw = str(value)
    if raw != raw.strip():
        kind = "a line end" if set(raw) & {"\n", "\r"} else "a space"
        url = plain(raw.strip())
        return (
            f"it has {kind} at its {'end' if raw.strip() == raw.lstrip().strip() else 'start'}"
            + (f"; write {url} on one line, without | and >" if url else "")
        )
    if re.search(r"\s", raw):
        return "a URL has no space: write %20, or remove it"
    text = plain(value)
    if match := re.fullmatch(r"([a-z]+):/{1,3}([^/].*)", text):
        scheme = "https" if match[1] in ("wss", "https") else "http" if match[1] in _HTTP else ""
        scheme = scheme or near(match[1], ("https", "http")) or ""
        return f"write {scheme}://{match[2]}" if scheme else ""
    host, _, port = text.partition(":")
    if not text or "://" in text or text[0] in "/$":
        return ""
    local = host.split("/")[0] in ("localhost", "127.0.0.1") or port[:1].isdigit()
    return f"write {'http' if local else 'https'}://{text}"


_HTTP = ("ws", "http")


def _sha256(value: object) -> str:
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
    return f"it has {format_count(len(text), 'character')}; 64 hexadecimal digits are needed"


def _expires(value: object) -> str:
    text = str(value).strip()
    if text.lower() in ("never", "none", "no", "false", "null", ""):
        return "leave 'expires' out for a token that does not expire"
    if match := re.fullmatch(r"(\d{1,2})[./](\d{1,2})[./](\d{4})", text):
        day, month = (match[1], match[2]) if int(match[2]) <= 12 else (match[2], match[1])
        return f"write {match[3]}-{int(month):02}-{int(day):02}"
    return ""


def _window(value: object) -> str:
    """`month` for `monthly`, `30d` for `30 days`; "" for a value that is not a window."""
    text = str(value).strip().lower()
    period = next((period for period, words in _PERIODS.items() if text in words), "")
    return period or duration(value, takes_ms=False)


def _rate(value: object) -> str:
    match = re.fullmatch(r"(\d+)\s*(?:(?:/|per)\s*(.+))?", str(value).strip())
    if match is None:
        match = re.fullmatch(r"(\d+)\s*r?p?([smhd])", str(value).strip().lower())
    if match is None:
        return ""
    per = _window(match[2]) if match[2] else ""
    return f"write {match[1]}/{per or '1m'}"


def _money_per_time(value: object) -> str:
    match = re.fullmatch(r"([$€£])\s*(\d+(?:\.\d+)?)(?:\s*(?:/|per)\s*(.+))?", str(value).strip())
    if match is None:
        return ""
    return f"write {match[2]} {_SIGNS[match[1]]}/{_window(match[3] or 'month') or 'month'}"


def _currency(value: object) -> str:
    text = str(value)
    code = _SIGNS.get(text, text.upper() if re.fullmatch(r"[a-zA-Z]{3}", text) else "")
    return f"write {code}" if code else ""


def _mount(value: object) -> str:
    text = plain(value).strip("/")
    if not str(value).strip("/"):
        return "leave it out to serve the document under the path of its own server URL"
    return f"write /{text}" if re.fullmatch(r"[A-Za-z0-9._/-]+", text) else ""


def _location(value: object) -> str:
    if match := re.fullmatch(r"\$request\.(header|query|path)\.?", str(value)):
        return f"write $request.{match[1]}.NAME"
    match = re.fullmatch(r"\$?\.?(?:request\.)?(?:body)?[#./]*([A-Za-z_]\w*)", str(value))
    return f"write $request.body#/{match[1]}" if match and match[1] != "body" else ""


def _origin(value: object) -> str:
    match = re.fullmatch(r"(https?://)?([a-zA-Z0-9.-]+(?::\d+)?)(/.*)?", str(value))
    return f"write {match[1] or 'https://'}{match[2].lower()}" if match else ""


def _proxy(value: object) -> str:
    text = str(value)
    if "://" not in text:
        return f"write http://{value}" if _url(value).startswith("write ") else ""
    return "" if text.startswith("https:") else _url(value)


_OF_FORMAT: dict[str, Callable[[Any], str]] = {
    "address": _listen,
    "url": _url,
    "proxy": _proxy,
    "sha256": _sha256,
    "date": _expires,
    "rate": _rate,
    "money per time": _money_per_time,
    "window": lambda value: f"write {_window(value)}" if _window(value) else "",
    "currency": _currency,
    "path prefix": _mount,
    "location": _location,
    "origin": _origin,
    "metrics path": lambda value: f"write {flag(value)}" if flag(value) else "",
}
"""Hints by format."""


def hint_for_format(name: str, value: object) -> str:
    """What to write instead of a value, in the format `name`; "" if its meaning is unclear."""
    hint = _OF_FORMAT.get(name)
    return hint(value) if hint is not None else ""
