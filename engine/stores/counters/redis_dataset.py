"""Whether a Redis server still has the data that it had: a random id is stored with the data, and
another id means other data.

The workers of a machine share the id in a file, so that a worker which starts later also knows of a
loss. Times are of the monotonic clock, which all processes of a machine share.
"""

from __future__ import annotations

import math
import os
import time
from hashlib import sha256
from pathlib import Path

import orjson


class Dataset:
    """The last known id of the data at `server`, shared in `folder`; without a folder, of this
    process alone. `lost_at` is when the server was last found with other data."""

    def __init__(self, server: str, folder: Path | None) -> None:
        name = f"redis-{sha256(server.encode()).hexdigest()[:16]}.json"
        self._file = folder and folder / name
        self._id = ""
        self.lost_at = -math.inf
        if self._file is not None and self._file.exists():
            self._id, lost_at = orjson.loads(self._file.read_bytes())
            if lost_at is not None and lost_at < time.monotonic():  # else from before a reboot
                self.lost_at = lost_at

    def update(self, id_: str) -> bool:
        """Note the id that the server has now. Returns whether it has lost its data."""
        if id_ == self._id:
            return False
        is_lost = self._id != ""
        self._id = id_
        if is_lost:
            self.lost_at = time.monotonic()
        if self._file is not None:
            new_file = self._file.with_suffix(f".{os.getpid()}")
            new_file.write_bytes(orjson.dumps([id_, self.lost_at if is_lost else None]))
            new_file.replace(self._file)
        return is_lost
