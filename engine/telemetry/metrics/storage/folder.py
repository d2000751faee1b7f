"""The folder of metric files that the workers of one master share: in memory, mode 0700.

A worker locks a slot for as long as it lives, and writes files with that slot's number. When it
dies, even by SIGKILL, its counters remain; the next worker takes the slot over and continues to
count. So no count is lost, and there are never more files than there were workers at one time.
"""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from pathlib import Path

from engine.machine.worker_locks import lock_number, try_lock
from engine.process import runtime_dir

_NAME = re.compile(r"modelway-metrics-(\d+)-(\d+)-(\d+)")


def folder_of(master: int, base: Path | None = None) -> Path:
    """The metrics folder of a running master process, created if needed. Folders of masters that
    ended are removed. Raises OSError."""
    base = base or runtime_dir.base()
    _remove_stale(base)
    folder = base / f"modelway-metrics-{os.getuid()}-{master}-{_start_time(master)}"
    _make(folder)
    return folder


class Slot:
    """A number in a folder that no other running process has. Create it after the fork.

    A folder that was removed, as systemd does in /dev/shm when a user has logged out, is made
    again: no worker could start without it. Raises OSError."""

    def __init__(self, folder: Path) -> None:
        _make(folder)
        self.folder = folder
        self.number, self._fd = lock_number(lambda number: _lock_file(folder, number))
        remove_gauges(folder, self.number)

    def close(self) -> None:
        """Release the slot: its gauges are removed, its counters and histograms remain. If the
        folder was removed, the number in the new one is another process's."""
        if self._fd >= 0:
            if os.fstat(self._fd).st_nlink:
                remove_gauges(self.folder, self.number)
            os.close(self._fd)
            self._fd = -1


def remove_dead_gauges(folder: Path) -> None:
    """Remove the gauges of workers that died without closing their slot."""
    for number in {int(p.stem.rpartition("_")[2]) for p in folder.glob("gauge_live*.db")}:
        fd = try_lock(_lock_file(folder, number))
        if fd is not None:
            remove_gauges(folder, number)
            os.close(fd)


def remove_gauges(folder: Path, number: int) -> None:
    """Remove the gauges of a slot."""
    for path in folder.glob(f"gauge_live*_{number}.*"):
        path.unlink(missing_ok=True)


def _make(folder: Path) -> None:
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to another user")


def _lock_file(folder: Path, number: int) -> Path:
    """The file whose lock is that of a slot."""
    return folder / f"{number}.lock"


def _remove_stale(base: Path) -> None:
    for path in base.glob(f"modelway-metrics-{os.getuid()}-*"):
        match = _NAME.fullmatch(path.name)
        if match is not None and _start_time(int(match[2])) != match[3]:
            shutil.rmtree(path, ignore_errors=True)


def _start_time(pid: int) -> str:
    """The start time of a process in clock ticks, to recognise a reused pid; "0" if it does not
    exist."""
    with suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return "0"
