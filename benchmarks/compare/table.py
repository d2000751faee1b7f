"""The figures as a table of Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.compare.figures import FIGURES, Figure, Ratio, Round, median, ratio

NONE = "–"


def table(results: Mapping[str, Sequence[Round]]) -> str:
    """One column for each system, one line for each figure."""
    names = list(results)
    lines = [_line(["", *names]), _line(["---", *["---:"] * len(names)])]
    for figure in FIGURES:
        values = [text_of(figure, median(results[name], figure.name)) for name in names]
        if set(values) != {NONE}:
            unit = f" ({figure.unit})" if figure.unit else ""
            lines.append(_line([figure.title + unit, *values]))
    return "\n".join(lines)


def ratios(results: Mapping[str, Sequence[Round]], ours: str) -> str:
    """One column for each system but ours, one line for each figure: their figure by ours."""
    others = [name for name in results if name != ours]
    lines = [_line(["times ours (least to most)", *others])]
    lines.append(_line(["---", *["---:"] * len(others)]))
    for figure in FIGURES:
        if figure.ratio:
            values = [ratio(results[name], results[ours], figure.name) for name in others]
            if any(values):
                lines.append(_line([figure.title, *map(times, values)]))
    return "\n".join(lines)


def text_of(figure: Figure, value: float | None) -> str:
    return NONE if value is None else f"{value * figure.scale:,.{figure.digits}f}"


def times(figure_ratio: Ratio | None) -> str:
    """Like `36.1 (34.9 to 37.2)`; three digits that matter."""
    if figure_ratio is None:
        return NONE
    least, most = _short(figure_ratio.least), _short(figure_ratio.most)
    return f"{_short(figure_ratio.median)} ({least} to {most})"


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.{1 if abs(value) >= 10 else 2}f}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
