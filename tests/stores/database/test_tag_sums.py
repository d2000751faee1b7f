"""Sums by the values of a tag: as many as are read, kept for as long as rows, filled by both
migrations and inserts."""

from alembic import command
from alembic.config import Config

from engine.stores.database import migrate, tag_sums
from engine.stores.database.sums import UsageFilter
from engine.stores.database.usage import UsageTable
from engine.stores.ledger_entry import Entry

DAY = 86_400
ALL = UsageFilter(0.0, 1000 * DAY, token="ann")


def row(number, value, **more):
    return Entry(f"r{number}", DAY + number, "ann", tags=f'{{"t":"{value}"}}', cost=2**40, **more)


def totals(database, where=ALL):
    return tag_sums.totals_by_tag(database, "t", where, 5)


def test_combinations_beyond_the_bound_are_summed(records, monkeypatch):
    monkeypatch.setattr(tag_sums, "MAX_COMBINATIONS", 3)
    values = ["a", "a", "a", "b", "b", "c", "d", "e"]
    UsageTable(records).insert([row(*each, currency="USD") for each in enumerate(values)])
    found = [(total.key, total.requests) for total in totals(records)]
    assert found == [("a", 3), ("b", 2), ("c", 1), ("(others)", 2)]
    assert totals(records)[0].cost == {"USD": 3 * 2**40}


def test_a_text_that_was_cut_has_no_tag(records):
    UsageTable(records).insert([row(1, "a")._replace(tags='{"t":"a')])
    assert totals(records) == []


def test_the_retention_deletes_days(records):
    table = UsageTable(records)
    table.insert([row(1, "a"), row(3 * DAY, "b")])
    table.delete_before(2 * DAY, 100)
    assert [total.key for total in totals(records)] == ["b"]


def test_rows_from_before_the_sums_are_added_once(records):
    config = Config()
    config.set_main_option("script_location", str(migrate.FOLDER))

    def downgrade(connection):
        config.attributes["connection"] = connection
        command.downgrade(config, "r0012")

    records.write(downgrade)
    UsageTable(records).insert([row(1, "a"), row(2, "a")])
    migrate.upgrade(records)
    UsageTable(records).insert([row(2, "a"), row(3, "a")])
    assert [(total.key, total.requests) for total in totals(records)] == [("a", 3)]
