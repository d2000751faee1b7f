"""A journal's folder as commands use it: count what is not shipped, ship a whole folder."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.stores.ledger.entry import decode
from engine.stores.ledger.journal import Segment, claim, files
from engine.stores.ledger.writer import LedgerWriter

_BATCH = 512


class FolderInUse(Exception):
    """A running process owns a file of the folder."""


@dataclass(slots=True)
class ShippedFolder:
    """Counts of `ship_folder`: `files` shipped and deleted, `new` rows in the database,
    `duplicates` that it had before, `refusals` of rows that it does not take, `torn` lines that
    were not entries."""

    files: int = 0
    new: int = 0
    duplicates: int = 0
    refusals: int = 0
    torn: int = 0


def count_unshipped(folder: Path, in_database: Callable[[Sequence[str]], set[str]]) -> int:
    """How many entries of a folder are not in the database; `in_database` returns those of some ids
    that are.

    Raises OSError, and what `in_database` raises.
    """
    count = 0
    for path in files(folder):
        try:
            lines = path.read_bytes().split(b"\n")
        except FileNotFoundError:
            continue  # shipped meanwhile
        ids = [entry.id for line in lines if (entry := decode(line)) is not None]
        # A file is shipped from its beginning, so the missing entries are at its end.
        count += len(ids) - bisect_left(ids, True, key=lambda id_: id_ not in in_database([id_]))
    return count


def ship_folder(folder: Path, writer: LedgerWriter) -> ShippedFolder:
    """Write all entries of a folder to the database; delete each file when all of it is there.

    Raises FolderInUse, before anything is written, when a running process owns one of the files.
    Raises RecordsError and OSError; files that were not shipped stay for the next call.
    """
    paths = files(folder)
    for path in paths:
        segment = _claim(path)
        if segment is not None:
            segment.close()
    counts = ShippedFolder()
    for path in paths:
        segment = _claim(path)
        if segment is None:
            continue
        try:
            _ship(segment, writer, counts)
        except BaseException:
            segment.close()
            raise
        segment.discard()
        counts.files += 1
    return counts


def _claim(path: Path) -> Segment | None:
    """A file, or None when it no longer exists."""
    segment = claim(path)
    if segment is None and path.exists():
        raise FolderInUse(path.name)
    return segment


def _ship(segment: Segment, writer: LedgerWriter, counts: ShippedFolder) -> None:
    while True:
        batch = segment.read(_BATCH, closed=True)
        if batch.end == segment.offset:
            return
        refusals = writer.refusals
        new = writer.write(batch.entries)
        refusals = writer.refusals - refusals
        segment.offset = batch.end
        counts.new += new
        counts.refusals += refusals
        counts.duplicates += len(batch.entries) - new - refusals
        counts.torn += batch.torn
