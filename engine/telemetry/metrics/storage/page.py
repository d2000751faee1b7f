"""The page that Prometheus scrapes: the numbers of all workers, joined.

The result is that of `prometheus_client.multiprocess` for the same files. Each series has all
buckets of its histogram, although the files have only those that are not empty. Each key is parsed
once, not at every scrape, which saves nine tenths of the CPU time. Keys are not kept: their lines
are known by their order in the files, which only grow, unless a gauge is removed.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable
from operator import add
from pathlib import Path

from prometheus_client import utils

from engine.telemetry.metrics.storage.metric_file import read_file

_format: Callable[[float], str] = utils.floatToGoString
_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})
_JOIN: dict[str, Callable[[float, float], float]] = {
    "": add,
    "livesum": add,
    "livemax": max,
    "livemin": min,
}


class _Line:
    """The value of a line of the page, or of a bucket; None if it is in no file."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: float | None = None


class _Family:
    """The lines of a metric. `head` are their help and type. `lines` are those that are no buckets,
    by their text without the value. `series` are the buckets of a histogram by their bounds, for
    the texts of the labels before and after `le`; `bounds` are those of all."""

    __slots__ = ("bounds", "head", "lines", "name", "series")

    def __init__(self, name: str, head: str) -> None:
        self.name = name
        self.head = head
        self.lines: dict[str, _Line] = {}
        self.series: dict[tuple[str, str], list[tuple[str, _Line]]] = {}
        self.bounds: dict[str, str] = {}

    def line(self, sample: str, labels: dict[str, str]) -> _Line:
        """The line of a sample."""
        bound = labels.pop("le", None)
        if bound is None:
            return self.lines.setdefault(sample + _label_text(labels), _Line())
        before = "".join(f"{_pair(labels, name)}," for name in sorted(labels) if name < "le")
        after = "".join(f",{_pair(labels, name)}" for name in sorted(labels) if name > "le")
        buckets = self.series.setdefault((before, after), [])
        for equal, line in buckets:
            if equal == bound:
                return line
        line = _Line()
        buckets.append((self.bounds.setdefault(bound, bound), line))
        return line

    def clear(self) -> None:
        """Forget the values."""
        for line in self.lines.values():
            line.value = None
        for buckets in self.series.values():
            for _, line in buckets:
                line.value = None

    def forget(self) -> None:
        """Forget the lines without a value, as those of addresses that come and go."""
        if any(line.value is None for line in self.lines.values()):
            lines = self.lines.items()
            self.lines = {text: line for text, line in lines if line.value is not None}


class _KnownLines:
    """The lines of a file in their order, each with the hash of its key: when a worker has taken
    over the slot of another one, a gauge's file is another one of the same name."""

    __slots__ = ("hashes", "lines")

    def __init__(self) -> None:
        self.lines: list[_Line] = []
        self.hashes = array("q")

    def forget_from(self, number: int) -> None:
        """Forget the lines from this one on."""
        del self.lines[number:], self.hashes[number:]


class MetricsPage:
    """Renders the page, and caches the lines of a folder's files."""

    def __init__(self) -> None:
        self._files: dict[Path, _KnownLines] = {}
        self._families: dict[str, _Family] = {}

    def text(self, folder: Path) -> bytes:
        """The page now, in Prometheus's text format 0.0.4."""
        for family in self._families.values():
            family.clear()
        paths = sorted(folder.glob("*.db"))
        self._files = {path: self._files.get(path) or _KnownLines() for path in paths}
        for path, entry in self._files.items():
            entry.forget_from(self._read(path, entry))
        for family in self._families.values():
            family.forget()
        # The lines of one family at a time: a page may have megabytes.
        texts = ((family.head, _render(family)) for family in self._families.values())
        return b"".join("".join([head, *lines]).encode() for head, lines in texts if lines)

    def _read(self, path: Path, known: _KnownLines) -> int:
        """Read the values of a file, and return how many there are."""
        try:
            if not path.stat().st_size:
                return 0  # its worker is creating it
            values = read_file(str(path))
        except FileNotFoundError:
            return 0  # its worker has just ended
        kind, _, suffix = path.stem.partition("_")
        join = _JOIN[suffix.rpartition("_")[0]]
        lines, hashes, count = known.lines, known.hashes, 0
        for number, (key, value, _, _) in enumerate(values):
            key_hash, count = hash(key), number + 1
            if number == len(lines) or hashes[number] != key_hash:
                known.forget_from(number)
                lines.append(self._parse(key, kind))
                hashes.append(key_hash)
            line = lines[number]
            line.value = value if line.value is None else join(line.value, value)
        return count

    def _parse(self, key: str, kind: str) -> _Line:
        """The line of a key. Keys of equal labels have the same, with the help or without."""
        name, sample, labels, description = json.loads(key)
        family = self._families.get(name)
        if family is None:
            full_name = f"{name}_total" if kind == "counter" else name
            description = description.replace("\\", r"\\").replace("\n", r"\n")
            head = f"# HELP {full_name} {description}\n# TYPE {full_name} {kind}\n"
            family = self._families[name] = _Family(name, head)
        return family.line(sample, labels)


def _render(family: _Family) -> list[str]:
    """The lines of a family. The buckets of a histogram are cumulative; the last is the count."""
    texts = [
        f"{head} {_format(line.value)}\n"
        for head, line in family.lines.items()
        if line.value is not None
    ]
    bounds = sorted(family.bounds, key=float)
    for (before, after), buckets in family.series.items():
        values = {bound: line.value for bound, line in buckets if line.value is not None}
        if not values:
            continue
        head, tail = f'{family.name}_bucket{{{before}le="', f'"{after}}}'
        count = 0.0
        for bound in bounds:
            count += values.get(bound, 0.0)
            texts.append(f"{head}{bound}{tail} {count}\n")
        labels = (before[:-1] + after).lstrip(",")
        texts.append(f"{family.name}_count{labels and f'{{{labels}}}'} {count}\n")
    return texts


def _label_text(labels: dict[str, str]) -> str:
    return f"{{{','.join(_pair(labels, name) for name in sorted(labels))}}}" if labels else ""


def _pair(labels: dict[str, str], name: str) -> str:
    return f'{name}="{labels[name].translate(_ESCAPES)}"'
