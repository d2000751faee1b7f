"""The tables as they are now are those that the migrations make."""

from engine.stores.records.migrate import check_version
from tests.support.records import differences, table_names


def test_the_tables_made_from_nothing_are_those_of_the_schema(records):
    assert table_names(records) == {"alembic_version", "tokens", "usage"}
    assert differences(records) == []
    assert check_version(records)


def test_the_comparison_sees_a_difference(records):
    records.write(lambda c: c.exec_driver_sql("ALTER TABLE tokens ADD COLUMN odd TEXT"))
    assert differences(records)
