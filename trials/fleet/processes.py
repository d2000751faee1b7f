"""The processes of the bed: each is started here, and ended by its id."""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_PATIENCE = 30.0
_WITH_THE_BED = ("--pdeathsig", "KILL")
"""The kernel ends a process when the bed is killed and cannot do so itself."""


class Kill(NamedTuple):
    """When a server was sent SIGKILL, and when it was gone, its sockets too."""

    start: float
    end: float


class Process:
    """A server in a session of its own. What it prints goes to `log`, which restarts continue.
    `end` is called when the bed ends, to remove what it may have left in shared places."""

    def __init__(
        self, words: Sequence[str], folder: Path, log: Path, environ: Mapping[str, str]
    ) -> None:
        self.log = log
        self.end: Callable[[], None] = self.kill
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                ["setpriv", *_WITH_THE_BED, "--", *words],
                cwd=folder,
                env={**os.environ, **environ},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """End it and all of its session at once, as `kill -9` does."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait(_PATIENCE)

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def wait(self, seconds: float = _PATIENCE) -> int:
        """The exit status, once it has ended. Raises subprocess.TimeoutExpired."""
        return self._process.wait(seconds)

    def output(self) -> str:
        """The last of what it has printed."""
        return self.log.read_text(errors="replace")[-2000:]


class Processes:
    """All processes of a bed; `close` ends those that still run, the last one first."""

    def __init__(self) -> None:
        self._all: list[Process] = []

    def start(
        self,
        words: Sequence[str],
        folder: Path,
        log: Path,
        environ: Mapping[str, str] | None = None,
    ) -> Process:
        process = Process(words, folder, log, environ or {})
        self._all.append(process)
        return process

    def close(self) -> None:
        while self._all:
            self._all.pop().end()


def as_user(name: str, folder: Path) -> list[str]:
    """The words before a command that must not run as root; `folder` becomes that user's."""
    if os.geteuid() != 0:
        return []
    record = pwd.getpwnam(name)
    os.chown(folder, record.pw_uid, record.pw_gid)
    ids = [f"--reuid={record.pw_uid}", f"--regid={record.pw_gid}", "--clear-groups"]
    return ["setpriv", *ids, *_WITH_THE_BED, "--"]
