"""Batches in the database: what is known of them, and results that count once."""

from engine.stores.database.batches import BatchTable
from engine.stores.database.totals import existing_ids
from engine.stores.ledger_entry import Entry


def test_what_is_known_first_stays(records):
    table = BatchTable(records)
    table.put(b"one", b"first")
    table.put(b"one", b"second")
    assert (table.get(b"one"), table.get(b"two")) == (b"first", None)


def rows(*names):
    return [(name.encode(), Entry(f"batch_{name}", 1_700_000_000.0, "ann")) for name in names]


def test_a_result_counts_once_for_ever(records):
    table = BatchTable(records)
    assert table.count(rows("a", "b"), b"claim 1") == {b"a", b"b"}
    assert table.count(rows("b", "c"), b"claim 2") == {b"c"}
    assert table.count(rows("a", "b", "c"), b"claim 3") == set()
    assert table.count([], b"claim 4") == set()
    assert existing_ids(records, ["batch_a", "batch_b", "batch_c"]) == {
        "batch_a",
        "batch_b",
        "batch_c",
    }


def test_a_write_whose_outcome_is_not_known_can_be_repeated(records):
    table = BatchTable(records)
    table.count(rows("a"), b"claim")
    assert table.count(rows("a", "b"), b"claim") == {b"a", b"b"}


def test_the_month_of_an_entry_is_made_where_it_is_missing(records):
    late = [(b"late", Entry("batch_late", 4_000_000_000.0))]
    assert BatchTable(records).count(late, b"claim") == {b"late"}
