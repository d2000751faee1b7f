"""Whether a Redis server still has its data: it is given a mark, and another mark means other data.

The workers of a machine share what they know of it in a file, so that one which starts later knows
of a loss as well. Times are of the steady clock, which all processes of a machine agree on.
"""

from __future__ import annotations

import math
import os
import time
from hashlib import sha256
from pathlib import Path

import orjson


class Mark:
    """The mark of the server at `place`, kept in `folder`; without one, in this process alone.

    `lost_at` is when the server was last found to have other data than before.
    """

    def __init__(self, place: str, folder: Path | None) -> None:
        name = f"redis-{sha256(place.encode()).hexdigest()[:16]}.json"
        self._file = folder and folder / name
        self._mark = ""
        self.lost_at = -math.inf
        if self._file is not None and self._file.exists():
            self._mark, lost_at = orjson.loads(self._file.read_bytes())
            if lost_at is not None and lost_at < time.monotonic():  # else of before a restart
                self.lost_at = lost_at

    def see(self, mark: str) -> bool:
        """The server has this mark. Whether that means that it has lost its data."""
        if mark == self._mark:
            return False
        lost = self._mark != ""
        self._mark = mark
        if lost:
            self.lost_at = time.monotonic()
        if self._file is not None:
            new = self._file.with_suffix(f".{os.getpid()}")
            new.write_bytes(orjson.dumps([mark, self.lost_at if lost else None]))
            new.replace(self._file)
        return lost
