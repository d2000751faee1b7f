"""Rate limits in the headers of responses, and the same limits in the headers of another API.

Each vendor reports the limit, what remains of it and when it is full again, for requests and for
tokens; OpenAI gives that time as a duration of Go (`1m30.5s`), Anthropic as a moment (RFC 3339).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

_KINDS = ("requests", "tokens")
_COUNT = re.compile(r"[0-9]{1,18}")
_DURATION = re.compile(r"(?:[0-9]{1,9}(?:\.[0-9]{1,9})?(?:h|ms|m|us|\u00b5s|ns|s)){1,6}")
_PIECE = re.compile(r"([0-9.]+)(h|ms|m|us|\u00b5s|ns|s)")
_UNITS = {"h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6, "\u00b5s": 1e-6, "ns": 1e-9}
_LONGEST = 366 * 86_400


@dataclass(frozen=True, slots=True)
class RateLimitHeaders:
    """How an API reports rate limits. `name` is the pattern of a header, with `{kind}` and
    `{part}`. `read_reset` reads a reset as seconds from now, None for a text of another form;
    `write_reset` writes it. Both get the time now in seconds since 1970."""

    name: str
    read_reset: Callable[[str, float], float | None]
    write_reset: Callable[[float, float], str]

    def header(self, kind: str, part: str) -> str:
        """The name of a header."""
        return self.name.format(kind=kind, part=part)


def translate_limits(
    headers: Sequence[tuple[str, str]],
    source: RateLimitHeaders | None,
    target: RateLimitHeaders | None,
    now: float,
) -> list[tuple[str, str]]:
    """The headers with the rate limits of `source` as those of `target`; unchanged where one of
    the APIs reports none or both do it alike. A value of another form is dropped."""
    if source is None or target is None or source == target:
        return list(headers)
    values, names = dict(headers), set()
    headers_out = []
    for kind in _KINDS:
        for part in ("limit", "remaining", "reset"):
            name = source.header(kind, part)
            names.add(name)
            text = values.get(name, "")
            if part != "reset":
                value = text if _COUNT.fullmatch(text) else None
            else:
                seconds = source.read_reset(text, now)
                value = None if seconds is None else target.write_reset(seconds, now)
            if value is not None:
                headers_out.append((target.header(kind, part), value))
    return [pair for pair in headers if pair[0] not in names] + headers_out


def read_duration(text: str, now: float) -> float | None:
    """The seconds of a duration of Go: `20ms`, `6m0s`."""
    if not _DURATION.fullmatch(text):
        return None
    try:
        seconds = sum(float(number) * _UNITS[unit] for number, unit in _PIECE.findall(text))
    except ValueError:
        return None
    return min(seconds, _LONGEST)


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


def read_moment(text: str, now: float) -> float | None:
    """The seconds until a moment as RFC 3339 writes it."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        return None
    return min(max(moment.timestamp() - now, 0.0), _LONGEST)


def write_moment(seconds: float, now: float) -> str:
    """The moment after so many seconds, as RFC 3339 writes it; whole seconds, rounded up."""
    return datetime.fromtimestamp(-(-(now + seconds) // 1), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
