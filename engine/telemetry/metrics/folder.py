"""Where the metrics of all workers meet: a folder in shared memory, one for each run of a master.

A worker takes a slot, which it holds as long as it lives, and writes files of that slot's number.
When it dies, even by SIGKILL, its counters stay where they are; the next worker takes the slot over
and counts on. So nothing is lost, and there are never more files than there were workers at once.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from contextlib import suppress
from pathlib import Path

from engine.values import runtime_dir

_NAME = re.compile(r"modelway-metrics-(\d+)-(\d+)-(\d+)")
_SLOTS = 100_000


def folder_of(master: int, base: Path | None = None) -> Path:
    """The folder of the run of that process, for this user alone. Whoever asks first makes it;
    those of runs that are over are removed. Raises OSError."""
    base = base or runtime_dir.base()
    _sweep(base)
    made = base / f"modelway-metrics-{os.getuid()}-{master}-{_born(master)}"
    made.mkdir(mode=0o700, exist_ok=True)
    if made.is_symlink() or made.stat().st_uid != os.getuid():
        raise PermissionError(f"{made} belongs to somebody else")
    return made


class Slot:
    """A number in a folder that no other living process has. Make it after the fork."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for number in range(_SLOTS):
            fd = _locked(folder, number)
            if fd is not None:
                self.number, self._fd = number, fd
                break
        bury(folder, number)

    def close(self) -> None:
        """Let another process have it. What counts what lives goes, what counts the past stays."""
        if self._fd >= 0:
            bury(self.folder, self.number)
            os.close(self._fd)
            self._fd = -1


def bury_the_dead(folder: Path) -> None:
    """Remove what workers that are gone said of themselves while they lived."""
    for number in {int(p.stem.rpartition("_")[2]) for p in folder.glob("gauge_live*.db")}:
        fd = _locked(folder, number)
        if fd is not None:
            bury(folder, number)
            os.close(fd)


def bury(folder: Path, number: int) -> None:
    """Remove the gauges of a slot whose process is gone."""
    for path in folder.glob(f"gauge_live*_{number}.db"):
        path.unlink(missing_ok=True)


def _locked(folder: Path, number: int) -> int | None:
    """A slot's lock, or None while somebody else has it."""
    fd = os.open(folder / f"{number}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        return None
    return fd


def _sweep(base: Path) -> None:
    for path in base.glob(f"modelway-metrics-{os.getuid()}-*"):
        found = _NAME.fullmatch(path.name)
        if found is not None and _born(int(found[2])) != found[3]:
            shutil.rmtree(path, ignore_errors=True)


def _born(pid: int) -> str:
    """When a process began, in the kernel's ticks: so that a number used again is not the same.
    "0" for one that is gone."""
    with suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return "0"
