"""Where the processes of one deployment meet: a folder in memory, closed to other users.

It is the same for the same user and config file until the machine starts anew: in /dev/shm where
there is one, else in the folder for temporary files.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from pathlib import Path

_LAYOUT = b"1"
"""To be changed with the layout of anything kept there: two versions then do not meet."""


def rundir(config_file: Path) -> Path:
    """The folder's path; `prepare` makes it."""
    root = Path("/dev/shm")  # noqa: S108 - the folder is checked: ours, and closed to others
    if not (root.is_dir() and os.access(root, os.W_OK)):
        root = Path(tempfile.gettempdir())
    boot = Path("/proc/sys/kernel/random/boot_id")
    said = [_LAYOUT, os.fsencode(os.path.abspath(config_file))]
    said.append(boot.read_bytes() if boot.exists() else b"")
    digest = hashlib.sha256(b"\0".join(said)).hexdigest()[:16]
    return root / f"modelway-{os.getuid()}-{digest}"


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
