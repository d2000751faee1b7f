"""The page that Prometheus reads: the numbers of all workers, added up.

What `prometheus_client.multiprocess` makes of the same files, but a key is parsed once and not with
every scrape: a page costs a tenth, which matters to the requests that it shares its worker with.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from prometheus_client import mmap_dict, utils

_values: Callable[[str], Iterable[tuple[str, float, float, int]]]
_values = mmap_dict.MmapedDict.read_all_values_from_file
_written: Callable[[float], str] = utils.floatToGoString
_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})
_JOIN: dict[str, Callable[[float, float], float]] = {
    "livesum": lambda one, other: one + other,
    "livemax": max,
    "livemin": min,
}


class _Series:
    """A line of the page, its value aside. `group` and `bound` are a histogram's bucket's."""

    __slots__ = ("bound", "group", "head", "join", "value")

    def __init__(self, sample: str, labels: dict[str, str], mode: str) -> None:
        said = dict(labels)
        self.join = _JOIN[mode] if mode else None
        self.bound = float(said.pop("le")) if "le" in said else None
        self.group = sample.removesuffix("_bucket") + _labels(said)
        self.head = sample + _labels(labels)
        self.value: float | None = None


class Page:
    """Remembers what the keys in a folder's files mean."""

    def __init__(self) -> None:
        self._known: dict[str, _Series] = {}
        self._families: dict[str, tuple[str, list[_Series]]] = {}

    def text(self, folder: Path) -> bytes:
        """The page now, in Prometheus's text format 0.0.4."""
        for series in self._known.values():
            series.value = None
        for path in sorted(folder.glob("*.db")):
            kind, _, rest = path.stem.partition("_")
            self._read(path, kind, rest.rpartition("_")[0] if kind == "gauge" else "")
        lines: list[str] = []
        for head, family in self._families.values():
            said = [series for series in family if series.value is not None]
            if said:
                lines.append(head)
                _say(said, lines)
        return "".join(lines).encode()

    def _read(self, path: Path, kind: str, mode: str) -> None:
        known = self._known
        try:
            if not path.stat().st_size:
                return  # its worker is just making it
            found = _values(str(path))
        except FileNotFoundError:
            return  # its worker has just ended
        for key, value, _, _ in found:
            series = known.get(key)
            if series is None:
                series = known[key] = self._meet(key, kind, mode)
            if series.value is None:
                series.value = value
            elif series.join is None:
                series.value += value
            else:
                series.value = series.join(series.value, value)

    def _meet(self, key: str, kind: str, mode: str) -> _Series:
        family, sample, labels, words = json.loads(key)
        name = f"{family}_total" if kind == "counter" else family
        words = words.replace("\\", r"\\").replace("\n", r"\n")
        head = f"# HELP {name} {words}\n# TYPE {name} {kind}\n"
        made = _Series(sample, labels, mode)
        self._families.setdefault(family, (head, []))[1].append(made)
        return made


def _say(said: list[_Series], lines: list[str]) -> None:
    """The lines of a family: of a histogram each bucket holds those below it, the last is all."""
    groups: dict[str, list[_Series]] = {}
    for series in said:
        if series.bound is None:
            lines.append(f"{series.head} {_written(series.value or 0.0)}\n")
        else:
            groups.setdefault(series.group, []).append(series)
    for group, buckets in groups.items():
        total = 0.0
        for series in sorted(buckets, key=_bound):
            total += series.value or 0.0
            lines.append(f"{series.head} {total}\n")
        name, brace, labels = group.partition("{")
        lines.append(f"{name}_count{brace}{labels} {total}\n")


def _bound(series: _Series) -> Any:
    return series.bound


def _labels(labels: dict[str, str]) -> str:
    if not labels:
        return ""
    pairs = [f'{name}="{labels[name].translate(_ESCAPES)}"' for name in sorted(labels)]
    return f"{{{','.join(pairs)}}}"
