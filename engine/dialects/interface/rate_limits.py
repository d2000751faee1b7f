"""Rate limits in the headers of responses, and their translation to the headers of another API.

Each vendor reports the limit, what remains of it and when it is full again, for requests and for
tokens. OpenAI writes that time as a duration of Go (`1m30.5s`), Anthropic as a timestamp (RFC
3339). Other vendors with the same dialects have other kinds (`tokens-minute`, or none) and write
seconds or Unix time, which `reports` and `read_any_reset` also read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

_RESET = "reset"
_COUNT = re.compile(r"[0-9]{1,18}")
_DURATION = re.compile(r"(?:[0-9]{1,9}(?:\.[0-9]{1,9})?(?:h|ms|m|us|\u00b5s|ns|s)){1,6}")
_PIECE = re.compile(r"([0-9.]+)(h|ms|m|us|\u00b5s|ns|s)")
_UNITS = {"h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6, "\u00b5s": 1e-6, "ns": 1e-9}
_NUMBER = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,9})?")
_MAX_WAIT = 366 * 86_400
_FIRST_UNIX_TIME = 1e8
_FIRST_UNIX_MILLISECONDS = 1e11


class Report(NamedTuple):
    """One rate limit in headers: the limit and what remains of it, None if absent, and the text of
    the reset, "" if absent."""

    limit: int | None
    remaining: int | None
    reset: str


class RateLimitHeaders:
    """How an API reports rate limits. `name` is the pattern of a header, with `{kind}` and
    `{part}`. `read_reset` parses a reset as seconds from now, None if it cannot; `write_reset`
    formats it. Both get the time now in Unix seconds.

    `places` gives the kind and the part of each header, `names` the header by kind and part."""

    def __init__(
        self,
        name: str,
        read_reset: Callable[[str, float], float | None],
        write_reset: Callable[[float, float], str],
    ) -> None:
        self.read_reset, self.write_reset = read_reset, write_reset
        self.names = {
            (kind, part): name.format(kind=kind, part=part)
            for kind in ("requests", "tokens")
            for part in ("limit", "remaining", _RESET)
        }
        self.places = {name: place for place, name in self.names.items()}
        self._prefix = name.partition("{")[0]
        kind = r"(?P<kind>[a-z0-9-]{1,60})"
        pattern = name.replace("-{kind}", f"(?:-{kind})?").replace("{kind}", kind)
        self._name = re.compile(pattern.replace("{part}", "(?P<part>limit|remaining|reset)"))

    def reports(self, headers: Sequence[tuple[str, str]]) -> list[Report]:
        """The rate limits in headers (names in lower case), one Report per kind. A count that
        cannot be parsed is None."""
        prefix = self._prefix
        pairs = [pair for pair in headers if pair[0].startswith(prefix)]
        kinds: dict[str, dict[str, str]] = {}
        for name, text in pairs:
            if (match := self._name.fullmatch(name)) is not None:
                kinds.setdefault(match["kind"] or "", {})[match["part"]] = text.strip()
        return [
            Report(
                _count(parts.get("limit")), _count(parts.get("remaining")), parts.get(_RESET, "")
            )
            for parts in kinds.values()
        ]


def translate_limits(
    headers: Sequence[tuple[str, str]],
    source: RateLimitHeaders | None,
    target: RateLimitHeaders | None,
    now: float,
) -> list[tuple[str, str]]:
    """The headers, with the rate limits of `source` written as those of `target` at the end.
    Unchanged if one API reports none, or both are the same. A value that cannot be parsed is
    dropped."""
    if source is None or target is None or source is target:
        return list(headers)
    others, limits = [], []
    for pair in headers:
        place = source.places.get(pair[0])
        if place is None:
            others.append(pair)
        elif (value := _translated(pair[1], place[1], source, target, now)) is not None:
            limits.append((target.names[place], value))
    return others + limits


def read_any_reset(text: str, now: float) -> float | None:
    """The seconds until a reset in any form that vendors use: a duration of Go, a timestamp (RFC
    3339), seconds, Unix time in seconds or milliseconds. None for any other text."""
    if not _NUMBER.fullmatch(text):
        seconds = read_duration(text, now)
        return read_timestamp(text, now) if seconds is None else seconds
    number = float(text)
    if number >= _FIRST_UNIX_MILLISECONDS:
        number /= 1000
    if number >= _FIRST_UNIX_TIME:
        number = max(0.0, number - now)
    return min(number, _MAX_WAIT)


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and _COUNT.fullmatch(text) else None


def _translated(
    text: str, part: str, source: RateLimitHeaders, target: RateLimitHeaders, now: float
) -> str | None:
    """The value of a header in the form of the `target` API, None if it cannot be parsed."""
    if part != _RESET:
        return text if _COUNT.fullmatch(text) else None
    seconds = source.read_reset(text, now)
    return None if seconds is None else target.write_reset(seconds, now)


def read_duration(text: str, now: float) -> float | None:
    """The seconds of a duration of Go: `20ms`, `6m0s`."""
    if not _DURATION.fullmatch(text):
        return None
    try:
        seconds = sum(float(number) * _UNITS[unit] for number, unit in _PIECE.findall(text))
    except ValueError:
        return None
    return min(seconds, _MAX_WAIT)


def write_duration(seconds: float, now: float) -> str:
    """A duration of Go."""
    if seconds < 1:
        return f"{round(seconds * 1000)}ms"
    minutes, rest = divmod(round(seconds, 3), 60)
    text = f"{rest:.3f}".rstrip("0").rstrip(".") + "s"
    hours, minutes = divmod(int(minutes), 60)
    if hours:
        return f"{hours}h{minutes}m{text}"
    return f"{minutes}m{text}" if minutes else text


def read_timestamp(text: str, now: float) -> float | None:
    """The seconds until a timestamp (RFC 3339); None for any other text."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    if time.tzinfo is None:
        return None
    return min(max(time.timestamp() - now, 0.0), _MAX_WAIT)


def write_timestamp(seconds: float, now: float) -> str:
    """The timestamp (RFC 3339) after `seconds`, rounded up to whole seconds."""
    return datetime.fromtimestamp(-(-(now + seconds) // 1), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
