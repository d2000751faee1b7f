"""Bringing in a journal that its machine left behind: every file of a folder, to its end."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.stores.ledger.segment import Segment, claim, files
from engine.stores.ledger.writer import LedgerWriter

_BATCH = 512


class FolderInUse(Exception):
    """A living process writes to a file of the folder, or ships it."""


@dataclass(slots=True)
class Shipped:
    """`new` rows are in the database now, `known` ones were there already; `refused` ones it does
    not take; `torn` lines were no rows. `files` were brought in, and are gone."""

    files: int = 0
    new: int = 0
    known: int = 0
    refused: int = 0
    torn: int = 0


def ship_left_behind(folder: Path, ledger_writer: LedgerWriter) -> Shipped:
    """Enter all rows of a folder; a file is removed once all of it is in the database.

    Nothing is entered when somebody alive holds one of the files: raises FolderInUse. Raises
    RecordsError and OSError; what was not brought in stays where it is, for the next time.
    """
    paths = list(files(folder))
    for path in paths:
        segment = _claimed(path)
        if segment is not None:
            segment.close()
    shipped = Shipped()
    for path in paths:
        segment = _claimed(path)
        if segment is None:
            continue
        try:
            _enter(segment, ledger_writer, shipped)
        except BaseException:
            segment.close()
            raise
        segment.discard()
        shipped.files += 1
    return shipped


def _claimed(path: Path) -> Segment | None:
    """A file, or None when it is gone."""
    segment = claim(path)
    if segment is None and path.exists():
        raise FolderInUse(path.name)
    return segment


def _enter(segment: Segment, ledger_writer: LedgerWriter, shipped: Shipped) -> None:
    while True:
        batch = segment.read(_BATCH, closed=True)
        if batch.end == segment.shipped:
            return
        refused = ledger_writer.refused
        new = ledger_writer.enter(batch.rows)
        refused = ledger_writer.refused - refused
        segment.shipped = batch.end
        shipped.new += new
        shipped.refused += refused
        shipped.known += len(batch.rows) - new - refused
        shipped.torn += batch.torn
