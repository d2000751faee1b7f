"""The longest turn of the event loop of a worker, and of a heavy worker, in processor time.

    python -m benchmarks.stall.turns FILE COMMAND ...

runs `modelway COMMAND ...`, whose workers note it in FILE. A turn is all that runs between two
times that the loop waits for the system: a small request that arrives meanwhile waits as long. The
processor time of the loop's thread does not grow while others have the processor.
"""

from __future__ import annotations

import mmap
import struct
import sys
import time
from pathlib import Path

import gevent

from engine import cli
from engine.server.worker import Worker

_LONGEST = struct.Struct("=QQ")


class LongestTurns:
    """Two numbers of nanoseconds, of workers and of heavy ones, in a file that processes share."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(bytes(_LONGEST.size))
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), _LONGEST.size)

    def take(self) -> tuple[float, float]:
        """Both in milliseconds since the last time."""
        worker, heavy = _LONGEST.unpack(self._memory)
        self._memory[:] = bytes(_LONGEST.size)
        return worker / 1e6, heavy / 1e6

    def watch(self, index: int) -> None:
        """Note the turns of this thread's loop as those of this index."""
        numbers = memoryview(self._memory).cast("Q")
        last = 0

        def turned() -> None:
            nonlocal last
            now = time.thread_time_ns()
            if last:  # before its first turn a worker starts, and accepts nothing
                numbers[index] = max(numbers[index], now - last)
            last = now

        gevent.get_hub().loop.check(ref=False).start(turned)


def run(path: Path) -> None:
    """The command, whose workers are watched."""
    turns, serve = LongestTurns(path), Worker.run

    def watched(worker: Worker) -> None:
        turns.watch(0 if type(worker) is Worker else 1)
        serve(worker)

    setattr(Worker, "run", watched)  # noqa: B010 - for the type checker
    cli.main()


if __name__ == "__main__":
    file = Path(sys.argv.pop(1))
    run(file)
