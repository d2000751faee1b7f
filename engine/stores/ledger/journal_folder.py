"""A journal's folder, for commands: count the entries that are not shipped, ship all of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.stores.ledger.journal_segments import Segment, claim, files
from engine.stores.ledger.writer import LedgerWriter
from engine.stores.ledger_entry import decode

_BATCH = 512


class FolderInUse(Exception):
    """A running process owns a file of the folder; the message is its name."""


@dataclass(slots=True)
class ShippedFolder:
    """Counts of `ship_folder`: `files` shipped and deleted, `new` rows, `duplicates` that the
    database had before, `refusals` of rows that it rejected, `torn` lines that were not entries."""

    files: int = 0
    new: int = 0
    duplicates: int = 0
    refusals: int = 0
    torn: int = 0


def count_unshipped(folder: Path, in_database: Callable[[Sequence[str]], set[str]]) -> int:
    """The number of entries of a folder that are not in the database. `in_database` returns those
    of the given ids that are in it. Raises OSError, and what `in_database` raises.
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
    """Write all entries of a folder to the database; delete each file after all of it is written.

    Raises FolderInUse, before anything is written, if a running process owns one of the files.
    Raises DatabaseError and OSError; files that were not shipped stay for the next call.
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
    """Lock a file; None if it no longer exists. Raises FolderInUse."""
    segment = claim(path)
    if segment is None and path.exists():
        raise FolderInUse(path.name)
    return segment


def _ship(segment: Segment, writer: LedgerWriter, counts: ShippedFolder) -> None:
    while True:
        batch = segment.read(_BATCH)
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
