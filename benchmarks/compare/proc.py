"""What processes take, from /proc: CPU and memory of a process and all below it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

TICKS = os.sysconf("SC_CLK_TCK")


class Stat(NamedTuple):
    """Of /proc/PID/stat: the parent, and CPU in clock ticks, of the process and of children that
    have ended."""

    parent: int
    ticks: int


def parse_stat(text: str) -> Stat:
    """A line of /proc/PID/stat; the program's name in it may hold anything."""
    fields = text.rpartition(")")[2].split()
    return Stat(int(fields[1]), sum(map(int, fields[11:15])))


def parse_memory(text: str, kind: str = "Pss") -> int:
    """Bytes of memory in /proc/PID/smaps_rollup: Pss, in which what is shared is divided among
    those who share it, or Rss."""
    for line in text.splitlines():
        if line.startswith(f"{kind}:"):
            return int(line.split()[1]) * 1024
    raise ValueError(f"no {kind} in smaps_rollup")


def below(stats: dict[int, Stat], root: int) -> list[int]:
    """`root` and all processes below it."""
    pids = [root]
    for pid in pids:
        pids += [child for child, stat in stats.items() if stat.parent == pid]
    return pids


def tree(root: int) -> dict[int, Stat]:
    """The process and all below it."""
    stats = _stats()
    return {pid: stats[pid] for pid in below(stats, root) if pid in stats}


def cpu(root: int) -> float:
    """Seconds of CPU that the process and all below it have taken, ended ones included."""
    return seconds(tree(root).values())


def seconds(stats: Iterable[Stat]) -> float:
    return sum(stat.ticks for stat in stats) / TICKS


def memory(root: int) -> int:
    """Bytes of memory of the process and all below it."""
    return sum(parse_memory(text) for text in _rollups(root))


def largest(root: int) -> int:
    """Bytes of memory of the largest process of those, with all that it shares."""
    return max(parse_memory(text, "Rss") for text in _rollups(root))


def _rollups(root: int) -> list[str]:
    return [Path(f"/proc/{pid}/smaps_rollup").read_text() for pid in tree(root)]


def _stats() -> dict[int, Stat]:
    stats = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            stats[int(path.parent.name)] = parse_stat(path.read_text())
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has just ended
    return stats
