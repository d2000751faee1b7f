"""What the records know of batches, and who has made one."""

import pytest

from engine import dialects
from engine.exchange.opened_ids import Batch, Holder, OpenedIds
from engine.objects.batches.batch_records import BatchRecords, BatchRow, object_key
from engine.stores.database.failures import DatabaseError
from engine.values.caller import Caller
from engine.values.errors import GatewayError
from tests.support.batch_store import MemoryBatches
from tests.support.exchanges import new_exchange

FORM = dialects.get("openai").batches
AT = Holder("alpha")
ANN = Caller("ann", team="red")


def note(records, value, *, caller=ANN, batch=None, is_own=True):
    exchange = new_exchange(caller=caller)
    exchange.objects = OpenedIds(b"owner---", batch=batch)
    records.note(FORM, value, AT, exchange, is_own=is_own)


def test_a_batch_belongs_to_whoever_saw_it_first():
    records = BatchRecords(MemoryBatches())
    note(records, {"id": "batch_1"})
    note(BatchRecords(records.store), {"id": "batch_1"}, caller=Caller("bob"))
    row = records.find(AT, "batch_1")
    assert (row.token, row.team, row.has_results) == ("ann", "red", False)
    assert records.find(Holder("beta"), "batch_1") is None


def test_a_batch_has_the_models_of_its_file():
    records = BatchRecords(MemoryBatches())
    batch = Batch(("alpha",), {"vendor-m": "m"}, operation="v.chat")
    note(records, {"id": "file-1", "purpose": "batch"}, batch=batch)
    note(records, {"id": "batch_1", "input_file_id": "file-1", "output_file_id": None})
    row = records.find(AT, "batch_1")
    assert (row.models, row.operation) == ({"vendor-m": "m"}, "v.chat")


def test_files_with_results_are_known_by_their_batch():
    records = BatchRecords(MemoryBatches())
    note(records, {"id": "batch_1"})
    shown = {"id": "batch_1", "output_file_id": "file-2", "error_file_id": "file-3"}
    note(records, shown, caller=Caller("bob"))
    for name in ("file-2", "file-3"):
        row = records.find(AT, name)
        assert (row.token, row.has_results) == ("ann", True)


def test_other_files_are_not_noted():
    records = BatchRecords(MemoryBatches())
    note(records, {"id": "file-1", "purpose": "user_data"})
    assert records.find(AT, "file-1") is None


def test_a_list_makes_nobody_an_owner():
    records = BatchRecords(MemoryBatches())
    rows = [
        {"id": "batch_1", "output_file_id": "file-2"},
        {"id": "file-9", "purpose": "batch_output"},
    ]
    for row in rows:
        note(records, row, is_own=False)
    assert records.find(AT, "batch_1") is None
    assert records.find(AT, "file-2") == BatchRow(has_results=True)
    assert records.find(AT, "file-9").has_results


def test_what_is_noted_is_not_asked_again():
    store = MemoryBatches()
    records = BatchRecords(store)
    shown = {"id": "batch_1", "output_file_id": "file-2"}
    note(records, shown)
    store.error = DatabaseError("away")
    note(records, shown)


def test_results_are_not_shown_that_could_not_be_counted(caplog):
    records = BatchRecords(MemoryBatches(DatabaseError("away")))
    note(records, {"id": "batch_1"})
    assert "its batch is not noted: away" in caplog.text
    with pytest.raises(GatewayError) as raised:
        note(records, {"id": "batch_1", "output_file_id": "file-2"})
    assert raised.value.status == 503
    with pytest.raises(GatewayError):
        records.find(AT, "file-2")


def test_objects_of_two_accounts_have_two_keys():
    keys = {object_key(Holder("a", n), name) for n in (0, 1) for name in ("x", "y")}
    assert len(keys) == 4
