"""What a route does with the batches and results in its responses."""

import json

import pytest

from engine import dialects
from engine.exchange.exchange import Response
from engine.exchange.opened_ids import Holder, OpenedIds, Upload
from engine.exchange.stage_services import Services
from engine.objects.batches.batch_records import BatchRecords, BatchRow, object_key
from engine.objects.batches.batch_route import BatchRoute
from engine.objects.batches.batch_uploads import BatchUploads, UploadPiece
from engine.objects.facts_reader import read_facts
from engine.objects.response_ids import ResponseSealer, SealedPlaces
from engine.objects.sealed_ids import Identity
from engine.relay.held_body import LARGE
from engine.transforms.edited_body import edit_response
from engine.values.caller import Caller
from tests.support.batch_store import MemoryBatches
from tests.support.exchanges import new_exchange
from tests.support.object_routes import SEALER
from tests.support.response_rows import ResponseRows

AT = Holder("alpha")
LIST = {"kind": "batch", "items": "body#/operations"}


def route(dialect, store, uploads=None, **facts):
    dialect = dialects.get(dialect)
    read, faults = read_facts(facts)
    assert not faults
    records = BatchRecords(store)
    values = read, dialect, dialect.batches, records, Services(), lambda *charge: None
    return BatchRoute(*values, uploads)


def opened(vendor_id, kind):
    return OpenedIds(b"owner---", AT, kind, {vendor_id: "sealed"})


def looks_at(look, value):
    """The changes of a value, when all of it was noted."""
    changes = look.read(value)
    look.settle(look.outcome())
    return changes


EXCHANGE = new_exchange(caller=Caller("bob"))


def test_a_file_has_results_only_if_a_batch_said_so():
    store = MemoryBatches()
    results = route("openai", store, batch="results")
    ids = opened("file-1", "file")
    assert results.line_counter(EXCHANGE, ids, AT) is None
    state = route("openai", store, batch="state")
    looks_at(state.look(EXCHANGE, ids, AT), {"id": "batch_1", "output_file_id": "file-1"})
    counter = results.line_counter(EXCHANGE, ids, AT)
    assert counter.row.token == "bob"
    assert results.line_counter(EXCHANGE, OpenedIds(b"owner---"), AT) is None
    assert state.line_counter(EXCHANGE, ids, AT) is None


def test_results_of_an_unknown_batch_are_those_of_their_reader():
    results = route("anthropic", MemoryBatches(), batch="results")
    counter = results.line_counter(EXCHANGE, opened("msgbatch_1", "message_batch"), AT)
    assert counter.row.token == "bob"


def test_results_in_a_batch_are_counted_and_a_list_shows_none():
    store = MemoryBatches()
    lists = {"inlinedResponses": {"inlinedResponses": [{"response": {"modelVersion": "x"}}]}}
    value = {"name": "batches/1", "response": lists, "metadata": {"output": lists}}
    one = route("gemini", store, batch=["state", "results"])
    ids = opened("batches/1", "batch")
    assert one.is_in_body(ids)
    assert one.line_counter(EXCHANGE, ids, AT) is None
    assert looks_at(one.look(EXCHANGE, ids, AT), value) == {}
    assert len(store.entries) == 1
    listing = route("gemini", store, batch="state", lists=LIST)
    changes, _ = listing.look_at_page({"operations": [value, {}]})
    assert [*changes.values()] == [b"[]", b"[]"]
    assert len(store.entries) == 1


def test_results_of_a_large_body_are_counted_by_the_worker():
    store = MemoryBatches()
    read, _ = read_facts({"batch": ["state", "results"], "creates": {"batch": "body#/name"}})
    results = [{"response": {"modelVersion": "x", "text": "y" * LARGE}}] * 2
    value = {"name": "batches/1", "response": {"inlinedResponses": {"inlinedResponses": results}}}
    look = route("gemini", store, batch=["state", "results"]).look(
        EXCHANGE, opened("batches/1", "batch"), AT
    )
    sealer = ResponseSealer(SealedPlaces(read), SEALER, b"owner---", AT, str, str, look)
    response = Response(
        200, [("content-type", "application/json")], iter([json.dumps(value).encode()])
    )
    edit_response(new_exchange("GET"), response, sealer)
    edited = json.loads(b"".join(response.body))
    assert edited["name"].startswith("batches/mw")
    assert len(store.entries) == 2
    assert store.get(object_key(AT, "batches/1")) is not None


@pytest.mark.parametrize("dialect", ["gemini", "openai"])
def test_the_file_that_an_upload_has_become_is_noted(dialect):
    uploads, upload = BatchUploads(ResponseRows(), SEALER, lambda: 0.0), Upload(b"owner---", "mwx")
    uploads.keep(UploadPiece(upload, 0, lambda: [b"text"]))
    ids = OpenedIds(b"owner---", AT, upload=upload)
    look = route(dialect, MemoryBatches(), uploads=uploads).look(EXCHANGE, ids, AT)
    file = {"file": {"name": "files/1", "sizeBytes": "4"}} if dialect == "gemini" else {}
    looks_at(look, file or {"file": {"id": "file-1"}})
    pieces = uploads.content(Identity("files/1", AT, b"owner---"))
    assert (None if pieces is None else [*pieces]) == ([b"text"] if file else None)


def test_a_file_of_results_is_read_by_its_lines():
    store = MemoryBatches()
    results = route("gemini", store, batch="results")
    ids = opened("files/r", "file")
    assert not results.is_in_body(ids)
    records = BatchRecords(store)
    assert records.find(AT, "files/r") is None
    look = route("gemini", store, batch="state").look(EXCHANGE, ids, AT)
    looks_at(look, {"name": "batches/1", "response": {"responsesFile": "files/r"}})
    assert isinstance(records.find(AT, "files/r"), BatchRow)
    assert store.get(object_key(AT, "files/r")) is not None
    assert results.line_counter(EXCHANGE, ids, AT) is not None
