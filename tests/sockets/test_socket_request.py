"""One request of a socket: what is asked, and what comes back."""

import orjson
import pytest

from engine import dialects
from engine.exchange.caller_connection import InternalCaller
from engine.sockets.memory import MemoryBudget, ResponseMemory
from engine.sockets.messages import read_message
from engine.sockets.socket_request import Turns
from engine.values.errors import AbortConnection, AbortReason, token_ended
from tests.support.each import each

ASK = {"type": "response.create", "model": "m", "input": "hi", "store": False}
USER = {"type": "message", "role": "user", "content": "hi"}
REPLY = {"type": "message", "role": "assistant", "content": []}


def event(kind, **members):
    document = orjson.dumps({"type": kind, **members})
    return b"event: %b\ndata: %b\n\n" % (kind.encode(), document)


def completed(name="resp_1", kind="response.completed"):
    return event(kind, response={"id": name, "output": [REPLY]})


class Answer:
    def __init__(self, pieces, status=200, headers=(), after=None):
        self.status, self.headers, self.after = status, list(headers), after
        self.pieces, self.closed = pieces, False

    def __iter__(self):
        yield from self.pieces
        if self.after is not None:
            raise self.after

    def close(self):
        self.closed = True


class Client:
    """A client, and the upstream that answers it."""

    def __init__(self, *answers):
        self.answers, self.asked, self.sent, self.waits = [*answers], [], [], 0
        self.memory = ResponseMemory(10_000, MemoryBudget())
        self.is_full, self.error, self.lanes = False, None, []
        openai = dialects.get("openai")
        self.turns = Turns(self.call, self.caller, openai, self.memory, self)

    def caller(self, lane):
        if self.error is not None:
            raise self.error
        self.lanes.append(lane)
        return InternalCaller(None)

    def call(self, body, caller, try_send):
        self.asked.append(orjson.loads(body))
        self.try_send = try_send
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def send(self, *messages):
        self.sent += map(orjson.loads, messages)

    def wait(self):
        self.waits += 1
        self.is_full = False

    def ask(self, **members):
        """The messages that answer a request."""
        self.sent.clear()
        self.turns.run(read_message(orjson.dumps({**ASK, **members})))
        return self.sent

    def error_of(self, **members):
        [message] = self.ask(**members)
        assert message["type"] == "error"
        return message["status"], message["error"]["code"]


def test_a_request_is_asked_as_a_stream_and_its_events_come_back():
    answer = Answer([event("response.created"), completed()])
    client = Client(answer)
    assert [each["type"] for each in client.ask()] == ["response.created", "response.completed"]
    assert client.asked == [{"model": "m", "input": "hi", "store": False, "stream": True}]
    assert answer.closed


def test_a_request_that_continues_one_is_asked_with_the_whole_conversation():
    client = Client(Answer([completed()]), Answer([completed("resp_2")]), Answer([completed()]))
    client.ask()
    client.ask(previous_response_id="resp_1", input=[{"n": 2}])
    client.ask(previous_response_id="resp_2", input=[{"n": 3}], stream_id="other")
    assert client.asked[1]["input"] == [USER, REPLY, {"n": 2}]
    assert client.asked[2]["input"] == [USER, REPLY, {"n": 2}, REPLY, {"n": 3}]
    assert "previous_response_id" not in client.asked[1]
    assert client.lanes == ["", "", "other"]


def test_an_unknown_response_is_not_found_unless_the_vendor_may_have_stored_it():
    client = Client(Answer([completed("resp_9")]), Answer([completed()]))
    assert client.error_of(previous_response_id="no") == (400, "previous_response_not_found")
    client.ask(previous_response_id="stored", store=True)
    assert client.asked[0]["previous_response_id"] == "stored"
    # What the gateway does not know whole, it does not remember.
    assert client.error_of(previous_response_id="resp_9") == (400, "previous_response_not_found")


def test_a_refusal_of_a_stored_response_has_the_code_that_clients_know():
    error = {"error": {"code": "unsupported_parameter", "param": "previous_response_id"}}
    client = Client(Answer([orjson.dumps(error)], 400))
    refusal = client.error_of(previous_response_id="stored", store=True)
    assert refusal == (400, "previous_response_not_found")


def test_an_error_is_a_message_with_its_status_and_the_time_to_wait():
    error = {"error": {"code": "c", "message": "m", "type": "t", "param": None}}
    client = Client(Answer([orjson.dumps(error)], 429, [("retry-after", "3"), ("x", "y")]))
    [message] = client.ask(stream_id="lane")
    assert message == {
        "type": "error",
        "status": 429,
        **error,
        "headers": {"retry-after": "3"},
        "stream_id": "lane",
    }


def test_an_error_without_a_known_form_has_one():
    assert Client(Answer([b"<html>"], 502)).error_of() == (502, "upstream_error")


@each(
    "answer",
    [
        Answer([event("response.created")]),
        Answer([event("response.created")], after=AbortConnection(AbortReason.RESPONSE_BROKE_OFF)),
        AbortConnection(AbortReason.RESPONSE_BROKE_OFF),
    ],
)
def test_an_answer_that_breaks_off_ends_with_an_error(answer):
    *_, error = Client(answer).ask()
    assert (error["type"], error["status"], error["error"]["code"]) == (
        *("error", 502),
        "upstream_error",
    )


def test_an_answer_that_breaks_off_behind_its_error_has_one_error():
    reported = b'data: {"error":{"code":"server_error","message":"m"}}\n\n'
    broken = AbortConnection(AbortReason.RESPONSE_BROKE_OFF)
    assert Client(Answer([reported], after=broken)).error_of() == (500, "server_error")


def test_a_token_that_has_ended_is_an_error():
    client = Client()
    client.error = token_ended()
    assert client.error_of() == (401, "invalid_api_key")
    assert client.asked == []


@pytest.mark.parametrize("lane", ["", "other"])
def test_an_error_forgets_what_it_continues_in_its_own_lane(lane):
    error = Answer([b'{"error":{"code":"c"}}'], 400)
    client = Client(Answer([completed()]), error, Answer([completed()]))
    client.ask(stream_id="lane")
    client.ask(previous_response_id="resp_1", stream_id=lane or "lane")
    assert (client.memory.get("resp_1") is None) is (not lane)


def test_a_failed_response_is_not_remembered():
    client = Client(Answer([completed(kind="response.failed")]))
    client.ask()
    assert len(client.memory) == 0


def test_a_warm_up_asks_nobody_and_can_be_continued():
    client = Client(Answer([completed()]))
    first, last = client.ask(generate=False, stream_id="lane")
    assert [first["type"], last["type"]] == ["response.created", "response.completed"]
    assert {first["stream_id"], last["stream_id"]} == {"lane"}
    assert last["response"]["output"] == []
    assert last["response"]["usage"]["total_tokens"] == 0
    assert client.asked == []
    client.ask(previous_response_id=last["response"]["id"], input=[{"n": 2}])
    assert client.asked[0]["input"] == [USER, {"n": 2}]


def test_an_input_that_is_none_is_left_to_the_validation():
    client = Client(Answer([b'{"error":{"code":"invalid_type"}}'], 400))
    client.memory.add("resp_1", b"1", "")
    client.ask(previous_response_id="resp_1", input={"a": 1})
    assert client.asked[0]["input"] == {"a": 1}


def test_pieces_that_the_event_loop_sends_are_messages_too():
    client = Client()

    class Pushing(Answer):
        def __iter__(self):
            yield event("response.created")
            assert client.try_send(event("response.in_progress"))
            client.is_full = True
            assert not client.try_send(completed())
            yield b""

    client.answers.append(Pushing([]))
    types = [each["type"] for each in client.ask()]
    assert types == ["response.created", "response.in_progress", "response.completed"]
    assert client.waits == 1
    assert client.memory.get("resp_1") is not None


def test_a_request_that_is_nested_too_deeply_is_an_error_and_not_silence():
    client = Client()
    text = orjson.dumps({**ASK, "input": "?"}).replace(b'"?"', b"[" * 300 + b"]" * 300)
    client.turns.run(read_message(text))
    assert [message["error"]["code"] for message in client.sent] == ["invalid_json"]


def test_a_bug_is_an_error_and_not_silence():
    client = Client(ZeroDivisionError())
    assert client.error_of() == (500, "internal_error")


def test_a_request_is_begun_when_the_client_reads():
    client = Client()
    client.is_full = True
    client.ask(generate=False)
    assert client.waits == 1
