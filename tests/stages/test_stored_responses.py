"""The stages of stored responses: what an upstream gets, and what the gateway answers itself."""

import signal

import gevent
import orjson
import pytest

from engine.exchange.exchange import Response
from engine.exchange.request_body import Body
from engine.objects.id_opener import IdOpener
from engine.objects.sealed_ids import RECORDS, Holder, Identity, Sealer, owner_of
from engine.objects.stored_responses import StoredResponses
from engine.process.preemption import Preemption
from engine.stages.stored_responses import continue_response, serve_stored_response
from engine.stores.database.failures import DatabaseAway
from engine.values.caller import Caller
from engine.values.errors import GatewayError
from tests.support.each import each
from tests.support.exchanges import new_exchange
from tests.support.preempting import interrupting
from tests.support.response_rows import ResponseRows
from tests.support.upstreams import Client, upstream

ANN, BOB = Caller("ann"), Caller("bob")
SEALER = Sealer(["a key for tests " * 4], ["alpha", "beta", RECORDS])
OPENER = IdOpener(SEALER, everybody=False, passes=False)
BEFORE = b'{"role":"user","content":"one"}'
OUTPUT = [{"type": "message", "role": "assistant", "content": "two"}]


class Gateway:
    """The stages around one store."""

    def __init__(self):
        self.rows = ResponseRows()
        self.responses = StoredResponses(self.rows, SEALER, 60.0, lambda: 0.0)

    def made(self, upstream=RECORDS, items=BEFORE):
        """The id of a response of Ann's."""
        name = f"resp_{len(self.rows.rows)}"
        identity = Identity(name, Holder(upstream), owner_of(ANN, "token"))
        sealed = SEALER.seal(identity, "response")
        entry = self.responses.entry(items, {"id": sealed, "output": OUTPUT})
        assert entry is not None
        self.responses.keep(entry, "req_1")
        return sealed

    def ask(self, caller=ANN, *, keeps=True, **members):
        """The exchange as the handler behind the stage gets it."""
        body = orjson.dumps({"model": "m", "input": "three", **members})
        targets = [upstream(Client(), "alpha").target("", 1)]
        exchange = new_exchange(
            body=Body(body), value=orjson.loads(body), caller=caller, model="m", targets=targets
        )
        stage = continue_response(self.responses, OPENER, "token", None, keeps=keeps)
        stage(exchange, lambda exchange: Response(200, []))
        return exchange

    def read(self, name, turns="retrieve", query="", caller=ANN):
        """The answer to a request for a response, and whether an upstream was asked."""
        exchange = new_exchange(
            path=f"/{name}", query=query, variables={"r": (1, 1 + len(name))}, caller=caller
        )
        stage = serve_stored_response(self.responses, OPENER, "token", turns, "r")
        return stage(exchange, lambda exchange: Response(200, [], b"vendor"))


def sent(exchange):
    value = orjson.loads(exchange.body.buffer)
    assert value == exchange.content.value
    return value


def test_the_turns_of_a_stored_response_come_first():
    gateway = Gateway()
    name = gateway.made()
    exchange = gateway.ask(previous_response_id=name)
    texts = [item["content"] for item in sent(exchange)["input"]]
    assert (texts, exchange.record.turn.previous) == (["one", "two", "three"], name)
    assert "previous_response_id" not in sent(exchange)
    assert exchange.record.turn.items == orjson.dumps(sent(exchange)["input"])[1:-1]


@each("act", [lambda g, n: g.ask(previous_response_id=n), Gateway.read])
def test_a_request_is_not_interrupted_any_more_when_the_records_are_read(act, monkeypatch):
    preemption, timers, find = Preemption(), [], StoredResponses.find
    monkeypatch.setattr("engine.stages.stored_responses.PREEMPTION", preemption)
    gateway = Gateway()
    name = gateway.made()

    def noting(*args):
        timers.append(signal.getitimer(signal.ITIMER_PROF))
        return find(*args)

    def compute():
        preemption.begin()
        act(gateway, name)

    monkeypatch.setattr(StoredResponses, "find", noting)
    with interrupting(preemption):
        gevent.spawn(compute).get()
    assert timers == [(0.0, 0.0)]


def test_a_target_that_has_the_response_gets_its_id():
    gateway = Gateway()
    name = gateway.made("alpha")
    exchange = gateway.ask(previous_response_id=name)
    assert sent(exchange)["previous_response_id"] == name
    assert (exchange.record.turn.previous, b"three" in exchange.record.turn.items) == ("", True)
    there = gateway.made("beta")
    assert len(sent(gateway.ask(previous_response_id=there))["input"]) == 3


def test_what_nobody_keeps_is_left_to_its_vendor_and_not_kept():
    gateway = Gateway()
    name = gateway.made("alpha")
    gateway.rows.rows.clear()
    exchange = gateway.ask(previous_response_id=name)
    assert (sent(exchange)["previous_response_id"], exchange.record.turn.items) == (name, None)


@pytest.mark.parametrize("members", [{"store": False}, {"conversation": "conv_1"}, {"input": 3}])
def test_what_is_not_to_be_stored_is_not_kept(members):
    assert Gateway().ask(**members).record.turn.items is None
    assert Gateway().ask(keeps=False).record.turn.items is None


def test_a_response_that_is_gone_is_refused_by_its_name():
    gateway = Gateway()
    name = gateway.made()
    gateway.read(name, "delete")
    with pytest.raises(GatewayError) as gone:
        gateway.ask(previous_response_id=name)
    assert (gone.value.status, gone.value.code) == (400, "previous_response_not_found")


def test_only_its_owner_continues_and_reads_a_response():
    gateway = Gateway()
    name = gateway.made()
    for attempt in (
        lambda: gateway.ask(BOB, previous_response_id=name),
        lambda: gateway.read(name, caller=BOB),
        lambda: gateway.read(name, "delete", caller=BOB),
        lambda: gateway.read(name[:-2] + "xx"),
    ):
        with pytest.raises(GatewayError) as refused:
            attempt()
        assert refused.value.status == 404


def test_the_records_answer_for_what_they_alone_have():
    gateway = Gateway()
    name = gateway.made()
    assert orjson.loads(gateway.read(name).body)["output"] == OUTPUT
    (item,) = orjson.loads(gateway.read(name, "items").body)["data"]
    assert item["content"] == [{"type": "input_text", "text": "one"}]
    assert orjson.loads(gateway.read(name, "delete").body)["deleted"]
    for turns, query in (("cancel", ""), ("retrieve", "stream=true")):
        with pytest.raises(GatewayError, match="background"):
            gateway.read(gateway.made(), turns, query)


def test_a_vendor_answers_for_its_own_and_a_copy_goes_with_it():
    gateway = Gateway()
    name = gateway.made("alpha")
    assert gateway.read(name).body == b"vendor"
    assert gateway.rows.rows
    assert gateway.read(name, "delete").body == b"vendor"
    assert not gateway.rows.rows


def test_records_that_are_away_fail_what_needs_them_only():
    gateway = Gateway()
    name = gateway.made()
    gateway.rows.error = DatabaseAway("down")
    assert gateway.ask().record.turn.items is not None
    with pytest.raises(GatewayError) as failed:
        gateway.ask(previous_response_id=name)
    assert failed.value.status == 503
