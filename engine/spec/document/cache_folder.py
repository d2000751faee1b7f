"""The user's folder for cache entries. An entry is read only if its file and folder belong to this
user and no other user may write to them."""

from __future__ import annotations

import logging
import os
import stat
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path as FilePath

_MAX_SIZE = 200_000_000
log = logging.getLogger("modelway")


def folder_of(environ: Mapping[str, str]) -> FilePath | None:
    """The user's folder for entries: `$XDG_CACHE_HOME/modelway`, or `~/.cache/modelway`."""
    if base := environ.get("XDG_CACHE_HOME") or "":
        return FilePath(base) / "modelway" if FilePath(base).is_absolute() else None
    home = environ.get("HOME", "")
    return FilePath(home) / ".cache" / "modelway" if home else None


def read(file: FilePath) -> bytes | None:
    """The bytes of an entry, which is the newest from now on; None if it does not exist or another
    user could have written it."""
    if not _is_private(file.parent):
        return None
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None  # no entry yet
    with os.fdopen(descriptor, "rb") as opened:
        info = os.fstat(descriptor)
        untrusted = info.st_uid != os.geteuid() or bool(info.st_mode & 0o022)
        if untrusted or not stat.S_ISREG(info.st_mode) or info.st_size > _MAX_SIZE:
            log.warning(
                "the cache entry %s is ignored: it must be a file of this user, at most %d "
                "bytes, that no other user may write to",
                file,
                _MAX_SIZE,
            )
            return None
        with suppress(OSError):  # on a file system that is read only, nothing is removed either
            os.utime(descriptor)
        return opened.read()


def write(file: FilePath, data: bytes, most: int) -> None:
    """Write an entry atomically, readable by this user only. The folder keeps at most so many of
    its kind, by the end of the name: those that were read or written last."""
    folder = file.parent
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not _is_private(folder):
        log.warning("%s can be written by other users: documents are not cached there", folder)
        return
    descriptor, name = tempfile.mkstemp(dir=folder, prefix=".new-")
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(data)
        os.replace(name, file)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(name)
        raise
    entries = sorted(folder.glob(f"*{file.suffix}"), key=_mtime)
    for old in entries[:-most]:
        old.unlink(missing_ok=True)


def _mtime(path: FilePath) -> float:
    """The modification time of an entry; 0.0 if another process has just removed it."""
    try:
        return path.lstat().st_mtime
    except FileNotFoundError:
        return 0.0


def _is_private(folder: FilePath) -> bool:
    """Whether a folder exists, is no symbolic link, and only this user may write to it."""
    try:
        info = folder.lstat()
    except OSError:
        return False
    closed_to_others = info.st_uid == os.geteuid() and not info.st_mode & 0o022
    return stat.S_ISDIR(info.st_mode) and closed_to_others
