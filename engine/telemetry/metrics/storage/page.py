"""The page that Prometheus scrapes: the numbers of all workers, joined.

The result is that of `prometheus_client.multiprocess` for the same files. Each series has all
buckets of its histogram, although the files have only those that are not empty. Each key is parsed
once, not at every scrape, which saves nine tenths of the CPU time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from prometheus_client import mmap_dict, utils

_read_file: Callable[[str], Iterable[tuple[str, float, float, int]]]
_read_file = mmap_dict.MmapedDict.read_all_values_from_file
_format: Callable[[float], str] = utils.floatToGoString
_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})
_JOIN: dict[str, Callable[[float, float], float]] = {
    "livesum": lambda first, second: first + second,
    "livemax": max,
    "livemin": min,
}


class _Series(NamedTuple):
    """A series of a histogram: the text of its buckets `before` and `after` their bounds, and that
    of its count."""

    before: str
    after: str
    total: str


class _Line:
    """A line of the page without its value: its `head`, or for a histogram's bucket its `bound`,
    and the `series` it belongs to."""

    __slots__ = ("bound", "head", "join", "series", "value")

    def __init__(self, sample: str, labels: dict[str, str], mode: str) -> None:
        self.join = _JOIN[mode] if mode else None
        self.value: float | None = None
        self.bound = labels.pop("le", None)
        self.series: _Series | None = None
        self.head = ""
        if self.bound is None:
            self.head = sample + _label_text(labels)
        else:
            before = "".join(f"{_pair(labels, name)}," for name in sorted(labels) if name < "le")
            after = "".join(f",{_pair(labels, name)}" for name in sorted(labels) if name > "le")
            total = sample.removesuffix("_bucket") + "_count" + _label_text(labels)
            self.series = _Series(f'{sample}{{{before}le="', f'"{after}}}', total)


class _Family:
    """The lines of a metric. `head` is their help and type, `bounds` are those of all buckets."""

    __slots__ = ("bounds", "head", "lines")

    def __init__(self, head: str) -> None:
        self.head = head
        self.lines: list[_Line] = []
        self.bounds: set[str] = set()


class MetricsPage:
    """Renders the page, and caches the parsed keys of a folder's files."""

    def __init__(self) -> None:
        self._lines: dict[str, _Line] = {}
        self._by_identity: dict[tuple[str, ...], _Line] = {}
        self._families: dict[str, _Family] = {}

    def text(self, folder: Path) -> bytes:
        """The page now, in Prometheus's text format 0.0.4."""
        for line in self._lines.values():
            line.value = None
        for path in sorted(folder.glob("*.db")):
            kind, _, suffix = path.stem.partition("_")
            self._read(path, kind, suffix.rpartition("_")[0] if kind == "gauge" else "")
        # The lines of one family at a time: a page may have megabytes.
        return b"".join(
            "".join([family.head, *_render(family)]).encode()
            for family in self._families.values()
            if any(line.value is not None for line in family.lines)
        )

    def _read(self, path: Path, kind: str, mode: str) -> None:
        try:
            if not path.stat().st_size:
                return  # its worker is creating it
            values = _read_file(str(path))
        except FileNotFoundError:
            return  # its worker has just ended
        for key, value, _, _ in values:
            line = self._lines.get(key)
            if line is None:
                line = self._lines[key] = self._parse(key, kind, mode)
            if line.value is None:
                line.value = value
            elif line.join is None:
                line.value += value
            else:
                line.value = line.join(line.value, value)

    def _parse(self, key: str, kind: str, mode: str) -> _Line:
        family, sample, labels, description = json.loads(key)
        identity = sample, mode, *labels.values(), *labels
        if (equal := self._by_identity.get(identity)) is not None:
            return equal  # the same series, whether its key has the help or not
        name = f"{family}_total" if kind == "counter" else family
        description = description.replace("\\", r"\\").replace("\n", r"\n")
        head = f"# HELP {name} {description}\n# TYPE {name} {kind}\n"
        line = self._by_identity[identity] = _Line(sample, labels, mode)
        lines = self._families.setdefault(family, _Family(head))
        lines.lines.append(line)
        if line.bound is not None:
            lines.bounds.add(line.bound)
        return line


def _render(family: _Family) -> list[str]:
    """The text of a family. The buckets of a histogram are cumulative; the last is the count."""
    texts: list[str] = []
    histograms: dict[_Series, dict[str, float]] = {}
    for line in family.lines:
        if line.value is None:
            continue
        if line.series is None or line.bound is None:
            texts.append(f"{line.head} {_format(line.value)}\n")
        else:
            histograms.setdefault(line.series, {})[line.bound] = line.value
    bounds = sorted(family.bounds, key=float)
    for (before, after, total), values in histograms.items():
        count = 0.0
        for bound in bounds:
            count += values.get(bound, 0.0)
            texts.append(f"{before}{bound}{after} {count}\n")
        texts.append(f"{total} {count}\n")
    return texts


def _label_text(labels: dict[str, str]) -> str:
    return f"{{{','.join(_pair(labels, name) for name in sorted(labels))}}}" if labels else ""


def _pair(labels: dict[str, str], name: str) -> str:
    return f'{name}="{labels[name].translate(_ESCAPES)}"'
