"""The runtime directory: where the processes of one deployment meet, in memory, mode 0700.

It is the same for the same user and config file until the machine starts anew.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import tempfile
from pathlib import Path

_LAYOUT = b"1"
"""To be changed with the layout of anything kept there: two versions then do not meet."""

_SHARED = Path("/dev/shm")  # noqa: S108 - the folder is checked: ours, and closed to others
_RUNTIME = ("RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR")
"""The variables in which systemd names a folder for a service, and for a user."""


class NoWritableFolder(OSError):
    """No folder for runtime files can be written; `str` says what is needed."""

    def __init__(self) -> None:
        super().__init__(
            errno.EROFS,
            "no folder can be written for the gateway's runtime files: mount a tmpfs that this "
            "user may write at /dev/shm or /tmp (in Kubernetes an emptyDir), or name one in TMPDIR",
        )

    def __str__(self) -> str:
        return str(self.strerror)


def base() -> Path:
    """The folder in which those of deployments are made: /dev/shm, else the one for temporary
    files, else the one that systemd gives. Raises NoWritableFolder."""
    candidates = [_SHARED]
    try:
        candidates.append(Path(tempfile.gettempdir()))
    except FileNotFoundError:
        candidates += [Path(found) for name in _RUNTIME if (found := os.environ.get(name))]
    for folder in candidates:
        if folder.is_dir() and os.access(folder, os.W_OK | os.X_OK):
            return folder
    raise NoWritableFolder


def use_for_temporary_files() -> None:
    """Let `tempfile` use the runtime directory's base where no folder for temporary files can be
    written: large request bodies are kept there. Raises NoWritableFolder."""
    try:
        tempfile.gettempdir()
    except FileNotFoundError:
        tempfile.tempdir = str(base())


def rundir(config_file: Path) -> Path:
    """The path of a config's runtime directory; `prepare` makes it. Raises NoWritableFolder."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    parts = [_LAYOUT, os.fsencode(os.path.abspath(config_file))]
    parts.append(boot.read_bytes() if boot.exists() else b"")
    digest = hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]
    return base() / f"modelway-{os.getuid()}-{digest}"


def prepare(path: Path) -> None:
    """Make the folder, closed to others. PermissionError when one is there that is not ours."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = os.lstat(path)
    except FileExistsError:
        found = os.lstat(path)
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    if not ours or stat.S_IMODE(found.st_mode) & 0o077:
        raise PermissionError(
            f"{path}: expected a folder of user {os.getuid()} that is closed to others (0700), "
            f"found one of user {found.st_uid} with mode {stat.S_IMODE(found.st_mode):o}; "
            "remove it, what is counted there starts anew"
        )
