"""Units as people write them: durations `250ms`, `3s`, `10m`, `90d`, sizes `512KB`, `25MB` and
times parsed; durations, numbers, shares and money formatted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_BYTES = {
    "B": 1,
    "KB": 1000,
    "MB": 1000**2,
    "GB": 1000**3,
    "KiB": 1024,
    "MiB": 1024**2,
    "GiB": 1024**3,
}

MAX_DURATION = 36_500 * 86_400.0
"""Seconds of a hundred years: the longest that `seconds` returns. The clocks and timers of the
system overflow after 292 years."""

DURATION = r"^[0-9]{1,9}(\.[0-9]{1,9})?(ms|s|m|h|d)$"
TIME = r"^[1-9][0-9]{0,8}(s|m|h|d)$"
SIZE = r"^[0-9]{1,12}(\.[0-9]{1,9})?(B|KB|MB|GB|KiB|MiB|GiB)$"


def seconds(text: str) -> float:
    """`"10m"` -> 600.0, at most MAX_DURATION. ValueError for what DURATION does not match."""
    if not re.fullmatch(DURATION, text):
        raise ValueError(f"'{text}' is not a duration like 250ms, 3s, 10m, 1h or 90d")
    number = text.rstrip("mshd")
    return min(float(number) * _SECONDS[text[len(number) :]], MAX_DURATION)


def duration_text(seconds: float) -> str:
    """A duration in the largest unit that divides it: 60.0 -> `1m`, 90.0 -> `90s`."""
    for unit in ("d", "h", "m"):
        if seconds >= _SECONDS[unit] and seconds % _SECONDS[unit] == 0:
            return f"{seconds / _SECONDS[unit]:g}{unit}"
    return f"{seconds:g}s"


def unix_time(text: str, *, end_of_day: bool = True, time_zone: tzinfo = UTC) -> float:
    """Unix seconds of a time in ISO 8601. `time_zone` applies to a time without an offset. A day
    (`2027-01-31`) stands for its end, or for its start without `end_of_day`. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    if len(text) == len("2027-01-31") and end_of_day:
        if moment.date() == date.max:
            return moment.replace(tzinfo=time_zone).timestamp() + _SECONDS["d"]
        moment += timedelta(days=1)
    return (moment if moment.tzinfo else moment.replace(tzinfo=time_zone)).timestamp()


def size(text: str) -> int:
    """`"25MB"` -> 25000000 bytes (`MiB` counts in 1024). Raises ValueError like `seconds`."""
    if not re.fullmatch(SIZE, text):
        raise ValueError(f"'{text}' is not a size like 512KB, 25MB or 1GiB")
    number = re.match(r"[0-9.]+", text)
    assert number is not None
    return int(float(number[0]) * _BYTES[text[number.end() :]])


def format_seconds(value: float | None) -> str:
    """A duration in at most 6 characters: 0.4ms, 12ms, 1.25s, 2m05s; `-` for None."""
    if value is None:
        return "-"
    if value < 0.01:
        return f"{value * 1e3:.1f}ms"
    if value < 1:
        return f"{value * 1e3:.0f}ms"
    if value < 100:
        return f"{value:.2f}s" if value < 10 else f"{value:.1f}s"
    return f"{int(value // 60)}m{int(value % 60):02d}s"


def format_number(value: float | None) -> str:
    """A rate or a count in at most 6 characters: 0, 0.3, 12.5, 1234, 56.7k, 1.2M; `-` for None."""
    if value is None:
        return "-"
    if value == 0:
        return "0"
    for bound, divisor, unit in ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if value >= bound:
            return f"{value / divisor:.1f}{unit}"
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 0.1 else f"{value:.2f}"


def format_count(count: int, noun: str) -> str:
    """A number of things with their noun, given in the singular: 0 rows, 1 row, 12,345 rows."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def format_excerpt(text: str, most: int) -> str:
    """The text, or its first characters and `...` if it has more than `most`."""
    return text if len(text) <= most else text[:most] + "..."


def format_names(names: Sequence[str], most: int | None) -> str:
    """At most so many names, and the number of the others: `a, b and 3 more`."""
    first = names[:most]
    more = f" and {len(names) - len(first)} more" if len(names) > len(first) else ""
    return f"{', '.join(first)}{more}"


def format_percent(part: float, total: float) -> str:
    """A part of a total: 0%, 0.3%, 12%; `-` if the total is 0."""
    if total <= 0:
        return "-"
    percent = 100 * part / total
    return f"{percent:.1f}%" if 0 < percent < 10 else f"{percent:.0f}%"


def format_amount(value: float) -> str:
    """An amount of money, rounded: 0, 0.0042, 1.25, 1234."""
    if value == 0:
        return "0"
    if value < 0.1:
        return f"{value:.4f}"
    return f"{value:.2f}" if value < 1000 else format_number(value)


def format_nano(nano: int) -> str:
    """Nano-units as an exact decimal number with at least two decimals: 1500000000 -> 1.50."""
    units, fraction = divmod(abs(nano), 1_000_000_000)
    sign = "-" if nano < 0 else ""
    return f"{sign}{units}.{f'{fraction:09}'.rstrip('0').ljust(2, '0')}"
