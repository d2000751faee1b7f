"""The figures as a table of Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.compare.figures import FIGURES, Figure, Ratio, Round, median, ratio

NONE = "–"


def table(found: Mapping[str, Sequence[Round]], ours: str) -> str:
    """One column for each system, one line for each figure; under it the ratios to ours."""
    names = list(found)
    lines = [_line(["", *names]), _line(["---", *["---:"] * len(names)])]
    for figure in FIGURES:
        values = [shown(figure, median(found[name], figure.name)) for name in names]
        if set(values) != {NONE}:
            unit = f" ({figure.unit})" if figure.unit else ""
            lines.append(_line([figure.title + unit, *values]))
    if ours not in found:
        return "\n".join(lines)
    others = [name for name in names if name != ours]
    lines += ["", _line(["times ours (least to most)", *others])]
    lines.append(_line(["---", *["---:"] * len(others)]))
    for figure in FIGURES:
        if figure.ratio:
            ratios = [ratio(found[name], found[ours], figure.name) for name in others]
            if any(ratios):
                lines.append(_line([figure.title, *map(times, ratios)]))
    return "\n".join(lines)


def shown(figure: Figure, value: float | None) -> str:
    return NONE if value is None else f"{value * figure.scale:,.{figure.digits}f}"


def times(found: Ratio | None) -> str:
    """Like `36.1 (34.9 to 37.2)`; three digits that matter."""
    if found is None:
        return NONE
    return f"{_short(found.median)} ({_short(found.least)} to {_short(found.most)})"


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.{1 if abs(value) >= 10 else 2}f}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
