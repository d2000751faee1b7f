"""A journal's folder as commands use it: entries are counted and shipped, whoever wrote them."""

import pytest

from engine.stores.database.failures import DatabaseAway
from engine.stores.ledger.journal_folder import (
    FolderInUse,
    ShippedFolder,
    count_unshipped,
    ship_folder,
)
from engine.stores.ledger.journal_segments import files
from engine.stores.ledger.writer import LedgerWriter
from tests.support.journals import append_entries, unowned_file


@pytest.fixture
def writer(table, tmp_path):
    return LedgerWriter(table, tmp_path / "refused.jsonl", timeout=1.0)


def test_every_file_is_shipped_and_deleted(writer, table, tmp_path):
    folder = tmp_path / "journal"
    unowned_file(folder, 600, "a")
    unowned_file(folder, 2, "b", tail=b'["torn",1.0')
    assert ship_folder(folder, writer) == ShippedFolder(files=2, new=602, torn=1)
    assert len(table.rows) == 602
    assert files(folder) == []


def test_known_and_refused_entries_are_counted(writer, table, tmp_path):
    folder = tmp_path / "journal"
    unowned_file(folder, 5, "a")
    table.rows["a_0"] = ()
    table.refused_ids = ("a_1",)
    assert ship_folder(folder, writer) == ShippedFolder(files=1, new=3, duplicates=1, refusals=1)


def test_a_folder_in_use_is_not_touched(writer, table, journal):
    unowned_file(journal.folder, 2)
    append_entries(journal, 1)
    with pytest.raises(FolderInUse):
        ship_folder(journal.folder, writer)
    assert table.rows == {}
    assert len(files(journal.folder)) == 2
    journal.close()


def test_a_file_stays_for_the_next_call_when_the_database_goes_away(writer, table, tmp_path):
    folder = tmp_path / "journal"
    unowned_file(folder, 3)
    table.away = 1
    with pytest.raises(DatabaseAway):
        ship_folder(folder, writer)
    assert ship_folder(folder, writer).new == 3


def test_a_folder_that_does_not_exist_is_empty(writer, tmp_path):
    assert ship_folder(tmp_path / "nowhere", writer) == ShippedFolder()
    assert count_unshipped(tmp_path / "nowhere", set) == 0


@pytest.mark.parametrize("shipped", [0, 1, 4, 5])
def test_entries_that_are_not_in_the_database_are_counted(tmp_path, shipped):
    """A file is shipped from its beginning."""
    folder = tmp_path / "journal"
    unowned_file(folder, 5, "a", tail=b"\0\0")
    unowned_file(folder, 2, "b")
    in_database = {f"a_{number}" for number in range(shipped)}
    assert count_unshipped(folder, lambda ids: in_database & set(ids)) == 7 - shipped
