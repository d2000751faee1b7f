"""Responses that are kept when they end: what callers get, and what the records have."""

import orjson
import pytest

from engine.exchange.exchange import Response
from engine.exchange.opened_ids import Holder, OpenedIds, Turn
from engine.exchange.push_stream import Pipeline, PushStream
from engine.objects.facts_reader import read_facts
from engine.objects.response_ids import ResponseSealer, SealedPlaces
from engine.objects.sealed_ids import RECORDS, Sealer
from engine.objects.stored_responses import StoredResponses
from engine.relay.held_body import LARGE
from engine.stores.database.failures import DatabaseAway
from engine.upstream.objects.stored_response_forward import StoredResponseForward
from tests.support.exchanges import new_exchange
from tests.support.object_routes import OWNER, forward, target
from tests.support.response_rows import ResponseRows

SEALER = Sealer(["a key for tests " * 4], ["alpha", RECORDS])
FACTS = {"creates": {"response": ["body#/id", "event#/response/id"]}, "turns": "create"}
RESPONSE = b'{"id":"resp_1","status":"completed","store":false,"output":[],"big":1.0e5}'
LARGE_RESPONSE = RESPONSE.replace(b'"output":[]', b'"output":["%b"]' % (b"x" * LARGE))


class Answer:
    """The response to one request, after a target has answered."""

    def __init__(self, turn, holder=RECORDS, error=None):
        self.rows = ResponseRows()
        self.rows.error = error
        self.responses = StoredResponses(self.rows, SEALER, 60.0, lambda: 0.0)
        self.turn, self.holder = turn, Holder(holder)

    def get(self, body, kind="application/json"):
        """The bytes that the caller gets."""
        exchange = new_exchange()
        exchange.objects, exchange.record.turn = OpenedIds(OWNER), self.turn
        facts, _ = read_facts(FACTS)
        places = SealedPlaces(facts)
        sealer = ResponseSealer(places, SEALER, OWNER, self.holder, lambda url: url, str)
        response = Response(200, [("content-type", kind)], body)
        handler = forward(StoredResponseForward, FACTS, target("alpha"), responses=self.responses)
        handler.seal(response, exchange, sealer)
        body = response.body
        return body if isinstance(body, bytes) else b"".join(body)


def events(*bodies):
    return [b'event: %b\ndata: {"type":"%b","response":%b}\n\n' % (t, t, b) for t, b in bodies]


STREAM = events((b"response.created", b'{"id":"resp_1"}'), (b"response.completed", RESPONSE))


def test_a_response_is_kept_before_its_caller_has_its_end():
    answer = Answer(Turn(b"1", "resp_0"))
    text = answer.get(RESPONSE)
    value = orjson.loads(text)
    assert (value["store"], value["previous_response_id"]) == (True, "resp_0")
    assert b'"big":1.0e5' in text, "what is not edited keeps its bytes"
    assert len(answer.rows.rows) == 1


def test_the_events_of_a_stream_say_so_and_come_one_after_the_other():
    answer = Answer(Turn(b"1"))
    pieces = iter(
        answer.get(PushStream(iter(STREAM), Pipeline()), "text/event-stream").split(b"\n\n")
    )
    assert all(b'"store":true' in piece for piece in pieces if piece)
    assert len(answer.rows.rows) == 1


@pytest.mark.parametrize("status", [b"failed", b"in_progress"])
def test_a_response_that_is_not_complete_is_not_kept(status):
    answer = Answer(Turn(b"1"))
    text = answer.get(RESPONSE.replace(b"completed", status))
    assert (orjson.loads(text)["store"], answer.rows.rows) == (False, {})


def test_a_large_response_is_kept_by_the_worker_though_another_process_has_written_it():
    answer = Answer(Turn(b"1", "resp_0"))
    value = orjson.loads(answer.get(iter([LARGE_RESPONSE])))
    assert (value["store"], value["previous_response_id"]) == (True, "resp_0")
    (stored,) = answer.rows.rows
    assert (
        answer.get(iter([LARGE_RESPONSE.replace(b"completed", b"failed")])).find(b'"store":false')
        > 0
    )
    assert [*answer.rows.rows] == [stored]


@pytest.mark.parametrize(
    "body", [RESPONSE, LARGE_RESPONSE, iter([LARGE_RESPONSE])], ids=["small", "large", "aside"]
)
def test_a_response_that_cannot_be_kept_says_so(body):
    answer = Answer(Turn(b"1"), error=DatabaseAway("down"))
    assert orjson.loads(answer.get(body))["store"] is False


def test_what_a_vendor_says_of_its_own_stays_and_is_kept_as_well():
    answer = Answer(Turn(b"1"), "alpha")
    assert orjson.loads(answer.get(RESPONSE))["store"] is False
    assert len(answer.rows.rows) == 1


def test_without_a_turn_ids_are_sealed_alone():
    answer = Answer(None)
    assert orjson.loads(answer.get(RESPONSE))["id"].startswith("resp_mw")
    assert not answer.rows.rows
