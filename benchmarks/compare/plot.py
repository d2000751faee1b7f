"""The plot: CPU per request and per event, memory per open stream, each on a logarithmic scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.compare.figures import FIGURES, Figure, Round, median

_FIGURES = ("cpu_plain_16", "event_paced", "per_stream")
_OURS, _OTHERS, _TEXT = "#0b7285", "#adb5bd", "#343a40"


def draw(results: Mapping[str, Sequence[Round]], ours: str, to: Path) -> None:
    """Write a PNG. Needs matplotlib (the extra `bench`)."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figures = [figure for figure in FIGURES if figure.name in _FIGURES]
    image, panels = plt.subplots(1, len(figures), figsize=(11, 2.6), dpi=120)
    for panel, figure in zip(panels, figures, strict=True):
        _bars(panel, figure, results, ours)
    image.text(0.995, 0.01, "logarithmic scales", fontsize=7, color=_TEXT, ha="right")
    image.tight_layout()
    image.savefig(to, facecolor="white", metadata={"Software": ""})
    plt.close(image)


def _bars(panel: object, figure: Figure, results: Mapping[str, Sequence[Round]], ours: str) -> None:
    values = {name: median(rounds, figure.name) for name, rounds in results.items()}
    bars = {name: value * figure.scale for name, value in values.items() if value}
    axes: Any = panel
    names = sorted(bars, key=bars.__getitem__, reverse=True)
    colours = [_OURS if name == ours else _OTHERS for name in names]
    container = axes.barh(names, [bars[name] for name in names], color=colours, height=0.6)
    labels = [f"{bars[name]:,.0f}" for name in names]
    axes.bar_label(container, labels, padding=3, fontsize=9, color=_TEXT)
    axes.set_xscale("log")
    axes.set_xlim(min(bars.values(), default=1) / 3, max(bars.values(), default=1) * 6)
    axes.set_title(f"{figure.title} ({figure.unit})", fontsize=9, color=_TEXT, loc="left")
    axes.xaxis.set_visible(False)
    axes.tick_params(axis="y", length=0, labelsize=9, labelcolor=_TEXT)
    for side in axes.spines.values():
        side.set_visible(False)
