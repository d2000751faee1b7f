"""Durations and sizes as people write them: `250ms`, `3s`, `10m`, `90d`; `512KB`, `25MB`."""

from __future__ import annotations

import re

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

LONGEST = 36_500 * 86_400.0
"""Seconds of a hundred years: the longest that `seconds` returns. The clocks and timers of the
system overflow after 292 years."""

DURATION = r"^[0-9]{1,9}(\.[0-9]{1,9})?(ms|s|m|h|d)$"
TIME = r"^[1-9][0-9]{0,8}(s|m|h|d)$"
SIZE = r"^[0-9]{1,12}(\.[0-9]{1,9})?(B|KB|MB|GB|KiB|MiB|GiB)$"


def seconds(text: str) -> float:
    """`"10m"` -> 600.0, at most LONGEST. Raises ValueError for anything DURATION does not match."""
    if not re.fullmatch(DURATION, text):
        raise ValueError(f"'{text}' is not a duration like 250ms, 3s, 10m, 1h or 90d")
    number = text.rstrip("mshd")
    return min(float(number) * _SECONDS[text[len(number) :]], LONGEST)


def duration_text(seconds: float) -> str:
    """A duration in the largest unit that divides it: 60.0 -> `1m`, 90.0 -> `90s`."""
    for unit in ("d", "h", "m"):
        if seconds >= _SECONDS[unit] and seconds % _SECONDS[unit] == 0:
            return f"{seconds / _SECONDS[unit]:g}{unit}"
    return f"{seconds:g}s"


def size(text: str) -> int:
    """`"25MB"` -> 25000000 bytes (`MiB` counts in 1024). Raises ValueError like `seconds`."""
    if not re.fullmatch(SIZE, text):
        raise ValueError(f"'{text}' is not a size like 512KB, 25MB or 1GiB")
    number = re.match(r"[0-9.]+", text)
    assert number is not None
    return int(float(number[0]) * _BYTES[text[number.end() :]])
