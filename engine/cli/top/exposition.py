"""What `/metrics` says, read from Prometheus's text format.

https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format. Read here because
prometheus_client's own parser takes ten times as long, and this is read every other second.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

Samples = Mapping[str, Sequence[tuple[Mapping[str, str], float]]]
"""The samples of each name: their labels and their values."""

_SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? +(\S+)(?: +-?[0-9]+)?")
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(.)")


def read(text: str, families: Collection[str]) -> Samples:
    """The samples of some metrics, those of a histogram (`_bucket`, `_sum`, `_count`) included.

    Lines that are no samples are passed over.
    """
    wanted = tuple(families)
    found: dict[str, list[tuple[Mapping[str, str], float]]] = {}
    for line in text.split("\n"):
        if not line.startswith(wanted):
            continue
        match = _SAMPLE.fullmatch(line.rstrip())
        if match is None:
            continue
        name, labels, value = match.groups()
        try:
            number = float(value)
        except ValueError:
            continue
        found.setdefault(name, []).append((_labels(labels or ""), number))
    return found


def _labels(text: str) -> dict[str, str]:
    found = dict(_LABEL.findall(text))
    if "\\" in text:
        found = {key: _ESCAPED.sub(_meant, value) for key, value in found.items()}
    return found


def _meant(match: re.Match[str]) -> str:
    return "\n" if match[1] == "n" else match[1]
