"""Results of batches: their entries, names, and what counts against limits."""

import json

import pytest

from engine import dialects
from engine.exchange.opened_ids import Holder
from engine.exchange.stage_services import Services
from engine.objects.batches.batch_records import BatchRow
from engine.objects.batches.batch_results import ResultCounter, ResultLines, add_lists
from engine.objects.facts_reader import read_facts
from engine.objects.response_ids import ResponseSealer, SealedPlaces
from engine.objects.sealed_ids import Sealer
from engine.stores.database.failures import DatabaseError
from engine.values.errors import GatewayError
from engine.values.price import price_of
from engine.values.price_list import Prices, TeamPriceList
from tests.support.batch_store import MemoryBatches

ROW = BatchRow("ann", "red", "sdk", "1", "", "v.chat", {"vendor-m": "m"}, has_results=True)
PRICES = Prices({"m": price_of({"input": 2, "output": 4, "batch": 0.5}, "config")})
USAGE = {"prompt_tokens": 10, "completion_tokens": 5}


def counter(store=None, dialect="openai", row=ROW, charges=None, vendor_id="file-1", prices=PRICES):
    dialect = dialects.get(dialect)
    charges = [] if charges is None else charges
    return ResultCounter(
        *(dialect, dialect.batches, row, Holder("alpha"), vendor_id),
        *(Services(prices=prices, clock=lambda: 7.0), store or MemoryBatches()),
        lambda *charge: charges.append(charge),
    )


def line(name, model="vendor-m", status=200):
    body = {"id": "chatcmpl-1", "model": model, "usage": USAGE}
    return {"custom_id": name, "response": {"status_code": status, "body": body}}


def test_a_team_pays_its_own_price_for_results():
    own = TeamPriceList(models={"m": price_of({"input": 10, "batch": 0.5}, "team red")})
    prices = Prices({"m": price_of({"input": 2, "output": 4})}, teams={"red": own})
    store, charges = MemoryBatches(), []
    counting = counter(store, charges=charges, prices=prices)
    counting.add(line("a"), 100)
    counting.flush()
    (entry,) = store.entries.values()
    assert (entry.cost, entry.margin, entry.price) == (50_000, 10_000, "team red")
    assert charges[0][3] == 50_000


def test_a_result_is_an_entry_at_the_price_of_batches():
    store, charges = MemoryBatches(), []
    counting = counter(store, charges=charges)
    assert counting.add(line("a"), 100) == {("response", "body", "model"): b'"m"'}
    counting.flush()
    (entry,) = store.entries.values()
    assert entry.id.startswith("batch_")
    assert (entry.token, entry.team, entry.client, entry.operation) == (
        "ann",
        "red",
        "sdk",
        "v.chat",
    )
    assert (entry.model_asked, entry.model_served, entry.upstream) == ("m", "vendor-m", "alpha")
    assert (entry.input, entry.output, entry.cost, entry.price) == (10, 5, 20_000, "config")
    assert (entry.time, entry.status, entry.via, entry.bytes_out) == (7.0, 200, "batch", 100)
    assert entry.attempts == 1
    assert [charge[:2] for charge in charges] == [("v.chat", "m")]
    assert (charges[0][2].input, charges[0][3]) == (10, 20_000)


def test_what_was_counted_is_not_counted_again():
    store, charges = MemoryBatches(), []
    for _ in range(3):
        counting = counter(store, charges=charges)
        counting.add(line("a"), 1)
        counting.add(line("b"), 1)
        counting.flush()
        counting.flush()
    assert len(store.entries) == 2
    assert len(charges) == 1
    other = counter(store, vendor_id="file-2")
    other.add(line("a"), 1)
    other.flush()
    assert len(store.entries) == 3


def test_a_line_that_comes_twice_counts_once():
    charges = []
    counting = counter(charges=charges)
    for _ in range(2):
        counting.add(line("a"), 1)
    counting.flush()
    assert charges[0][2].input == 10


def test_a_version_of_the_only_model_is_that_model():
    store = MemoryBatches()
    counting = counter(store)
    assert counting.add(line("a", "vendor-m-2026"), 1) == {}
    counting.flush()
    (entry,) = store.entries.values()
    assert (entry.model_asked, entry.model_served) == ("m", "vendor-m")


def test_a_failed_request_has_no_usage():
    store = MemoryBatches()
    counting = counter(store)
    counting.add({"custom_id": "a", "response": None, "error": {"code": "batch_expired"}}, 1)
    counting.add(7, 1)
    counting.flush()
    (entry,) = store.entries.values()
    assert (entry.status, entry.outcome, entry.cost) == (500, "failed", 0)


def test_results_that_cannot_be_counted_are_not_passed_on():
    counting = counter(MemoryBatches(DatabaseError("away")))
    counting.add(line("a"), 1)
    with pytest.raises(GatewayError) as raised:
        counting.flush()
    assert raised.value.status == 503


def test_lines_have_sealed_ids_and_names_of_callers():
    facts, _ = read_facts(
        {"creates": {"response": {"at": "lines#/response/body/id", "starts": "resp_"}}}
    )
    sealer = ResponseSealer(
        SealedPlaces(facts), Sealer(["key " * 8], ["alpha"]), b"owner---", Holder("alpha"), str, str
    )
    edit = ResultLines(sealer, counter())
    text = json.dumps(line("a")).encode()
    assert edit(text) == text.replace(b'"vendor-m"', b'"m"')
    stored = json.loads(edit(text.replace(b"chatcmpl-1", b"resp_1")))
    assert stored["response"]["body"]["id"].startswith("resp_mw")
    assert edit(b"{no json") == b"{no json"


def test_results_in_a_body_are_counted_once_in_both_places():
    store = MemoryBatches()
    form = dialects.get("gemini").batches
    answer = {"modelVersion": "vendor-m", "usageMetadata": {"promptTokenCount": 3}}
    lists = {"inlinedResponses": {"inlinedResponses": [{"response": answer}, {"error": {}}]}}
    for value in ({"response": lists}, {"metadata": {"output": lists}}):
        counts = counter(store, "gemini", vendor_id="batches/1")
        changes = add_lists(value, form.lists, counts)
        counts.flush()
        assert [*changes.values()] == [b'"m"']
    assert [entry.input for entry in store.entries.values()] == [3, 0]
    assert add_lists({}, form.lists, counter(store, "gemini")) == {}
