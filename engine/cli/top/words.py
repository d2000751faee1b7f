"""Numbers as a narrow column shows them."""

from __future__ import annotations

NONE = "-"


def seconds(value: float | None) -> str:
    """A duration: 0.4ms, 12ms, 1.25s, 2m05s; `-` for None."""
    if value is None:
        return NONE
    if value < 0.01:
        return f"{value * 1e3:.1f}ms"
    if value < 1:
        return f"{value * 1e3:.0f}ms"
    if value < 100:
        return f"{value:.2f}s" if value < 10 else f"{value:.1f}s"
    return f"{int(value // 60)}m{int(value % 60):02d}s"


def number(value: float | None) -> str:
    """A rate or a count: 0, 0.3, 12.5, 1234, 56.7k, 1.2M; `-` for None."""
    if value is None:
        return NONE
    if value == 0:
        return "0"
    for bound, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value >= bound:
            return f"{value / (1e3 if unit == 'k' else bound):.1f}{unit}"
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 0.1 else f"{value:.2f}"


def share(part: float, whole: float) -> str:
    """A part of the whole: 0%, 0.3%, 12%; `-` of nothing."""
    if whole <= 0:
        return NONE
    percent = 100 * part / whole
    return f"{percent:.1f}%" if 0 < percent < 10 else f"{percent:.0f}%"


def money(value: float) -> str:
    """An amount: 0, 0.0042, 1.25, 1234."""
    if value == 0:
        return "0"
    return f"{value:.4f}" if value < 0.1 else f"{value:.2f}" if value < 1000 else number(value)
