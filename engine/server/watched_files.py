"""Whether the files of a config have changed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


class WatchedFiles:
    """The files of a config, and what is known of their last change."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self.watch(paths)
        self._last_fingerprint: object = None

    def watch(self, paths: Iterable[Path]) -> None:
        """Watch these files only, as they are now."""
        self.paths = frozenset(paths)
        self._fingerprint = fingerprint(self.paths)

    def changed(self) -> bool:
        """Whether the files have changed since `watch` or the last change, and are the same as at
        the last call: an edit may be incomplete."""
        now = fingerprint(self.paths)
        is_stable, self._last_fingerprint = now == self._last_fingerprint, now
        if not is_stable or now == self._fingerprint:
            return False
        self._fingerprint = now
        return True


def fingerprint(paths: Iterable[Path]) -> dict[Path, object]:
    """The real path, inode, modification time and size of files, to see whether they change.

    Their folders are included, for files that appear or disappear.
    """
    watched = {*paths, *(path.parent for path in paths)}
    return {path: _stat(path) for path in watched}


def _stat(path: Path) -> object:
    try:
        stat = path.stat()
        return os.path.realpath(path), stat.st_ino, stat.st_mtime_ns, stat.st_size
    except OSError as error:
        return error.errno
