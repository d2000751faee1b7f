"""The runtime directory shared by the processes of one deployment: in memory, mode 0700.

It is the same for the same user and config files until the machine restarts.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import tempfile
from collections.abc import Sequence
from pathlib import Path

_LAYOUT = b"4"
"""Raise this when the layout of any file in the directory changes: it is part of the path, so two
versions of the program do not share a directory."""

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - the directory in it is checked: owner and mode
_RUNTIME = ("RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR")
"""The variables in which systemd names the directory of a service, and of a user."""


class NoWritableFolder(OSError):
    """No folder for runtime files is writable; `str` says what is needed."""

    def __init__(self) -> None:
        super().__init__(
            errno.EROFS,
            "no folder can be written for the gateway's runtime files: mount a tmpfs that this "
            "user may write at /dev/shm or /tmp (in Kubernetes an emptyDir), or name one in TMPDIR",
        )

    def __str__(self) -> str:
        return str(self.strerror)


def base() -> Path:
    """The parent of runtime directories: /dev/shm, else the folder for temporary files, else the
    one of systemd. Raises NoWritableFolder."""
    candidates = [SHARED_MEMORY]
    try:
        candidates.append(Path(tempfile.gettempdir()))
    except FileNotFoundError:
        candidates += [Path(path) for name in _RUNTIME if (path := os.environ.get(name))]
    for folder in candidates:
        if folder.is_dir() and os.access(folder, os.W_OK | os.X_OK):
            return folder
    raise NoWritableFolder


def use_for_temporary_files() -> None:
    """Let `tempfile` use `base()` where no folder for temporary files is writable: large request
    bodies are spooled there. Raises NoWritableFolder."""
    try:
        tempfile.gettempdir()
    except FileNotFoundError:
        tempfile.tempdir = str(base())


def runtime_directory(config_file: Path, overlays: Sequence[Path] = ()) -> Path:
    """The path of a config's runtime directory; `prepare` makes it. Raises NoWritableFolder."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    parts = [_LAYOUT, *(os.fsencode(os.path.abspath(file)) for file in (config_file, *overlays))]
    parts.append(boot.read_bytes() if boot.exists() else b"")
    digest = hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]
    return base() / f"modelway-{os.getuid()}-{digest}"


def prepare(path: Path) -> None:
    """Make the directory with mode 0700, and those above it. PermissionError when it exists with
    another owner or mode."""
    try:
        for folder in reversed([path, *path.parents]):  # `parents=True` would open those to others
            folder.mkdir(mode=0o700, exist_ok=True)
        status = os.lstat(path)
    except FileExistsError:
        status = os.lstat(path)
    private = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    if not private or stat.S_IMODE(status.st_mode) & 0o077:
        raise PermissionError(
            f"{path}: expected a folder of user {os.getuid()} that is closed to others (0700), "
            f"found one of user {status.st_uid} with mode {stat.S_IMODE(status.st_mode):o}; "
            "remove it; its counters start again at 0"
        )
