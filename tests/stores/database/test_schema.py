"""The tables as they are now are those that the migrations make."""

from engine.stores.database.migrate import check_version
from engine.stores.database.schema import tokens, usage
from engine.stores.database.tokens import Token
from engine.stores.ledger_entry import Entry, repaired
from engine.values.usage import COUNTS
from tests.support.records import TABLES, differences, table_names


def test_the_tables_made_from_nothing_are_those_of_the_schema(records):
    assert table_names(records) == TABLES
    assert differences(records) == []
    assert check_version(records)


def test_the_comparison_sees_a_difference(records):
    records.write(lambda c: c.exec_driver_sql("ALTER TABLE tokens ADD COLUMN odd TEXT"))
    assert differences(records)


def test_every_column_is_a_field_of_its_row():
    assert list(usage.columns.keys()) == list(Entry._fields)
    assert {*COUNTS} < {*Entry._fields}
    assert sorted(tokens.columns.keys()) == sorted(Token.__struct_fields__)


def test_a_number_is_repaired_to_the_size_of_its_column():
    huge = Entry("req_1", 0.0)._replace(**dict.fromkeys(_integer_columns(), 2**70))
    for name, bits in _integer_columns().items():
        assert getattr(repaired(huge), name) == 2 ** (bits - 1) - 1


def _integer_columns():
    """The bits of each integer column of the ledger."""
    bits = {"INTEGER": 32, "BIGINT": 64}
    return {c.name: bits[str(c.type)] for c in usage.columns if str(c.type) in bits}
