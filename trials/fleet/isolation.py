"""Runs the command in namespaces of its own: network, mounts, processes.

The command becomes the first process there. When it ends, however it ends, the kernel ends all
processes that it started and removes their networks and mounts.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_SHARED_MEMORY = "/dev/shm"
_MODULE = "trials.fleet"
_TRIAL = ["ip", "link", "add", "trial", "type", "veth", "peer", "name", "trial-peer"]


def why_not() -> str:
    """Why namespaces cannot be used here; "" if they can."""
    for program in ("unshare", "nsenter", "ip"):
        if shutil.which(program) is None:
            return f"{program} is not installed (Debian: util-linux, iproute2)"
    trial = subprocess.run([*_unshare(), *_TRIAL], capture_output=True, text=True, check=False)
    return trial.stderr.strip() if trial.returncode else ""


def run(arguments: Sequence[str]) -> int:
    """Run this program with `arguments` in namespaces; its exit status.

    SIGTERM ends it as Ctrl-C does: the terminal sends SIGINT to both processes.
    """
    process = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", *_unshare(), sys.executable, "-m", _MODULE, *arguments]
    )

    def end(_number: int, _frame: object) -> None:
        process.kill()

    previous = signal.signal(signal.SIGTERM, end)
    try:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue  # the inner process ends by itself
    finally:
        signal.signal(signal.SIGTERM, previous)


def prepare(resolver: Path) -> None:
    """In the new namespaces: what gateways write to shared memory stays there, and names are
    resolved as the file `resolver` says."""
    subprocess.run(["mount", "-t", "tmpfs", "fleet", _SHARED_MEMORY], check=True)
    target = os.path.realpath("/etc/resolv.conf")
    subprocess.run(["mount", "--bind", str(resolver), target], check=True)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def _unshare() -> list[str]:
    words = ["unshare", "--net", "--mount", "--ipc", "--pid", "--mount-proc"]
    words += ["--fork", "--kill-child"]
    if os.geteuid() != 0:
        words += ["--user", "--map-current-user", "--keep-caps"]
    return words
