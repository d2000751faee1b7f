"""How many rows of a journal are not in the database yet, seen from outside of its workers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from pathlib import Path

from engine.stores.ledger.entry import decode
from engine.stores.ledger.segment import files


def unshipped(folder: Path, known: Callable[[Sequence[str]], set[str]]) -> int:
    """Rows in the files of a folder that are not in the database; `known` tells which ids are.

    Raises OSError, and what `known` raises.
    """
    count = 0
    for path in files(folder):
        try:
            lines = path.read_bytes().split(b"\n")
        except FileNotFoundError:
            continue  # shipped meanwhile
        ids = [row[0] for line in lines if (row := decode(line)) is not None]
        # A file is shipped from its beginning, so those that are missing are at its end.
        count += len(ids) - bisect_left(ids, True, key=lambda one: one not in known([one]))
    return count
