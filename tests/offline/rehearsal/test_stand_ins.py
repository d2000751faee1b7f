"""Stand-ins for clients and counters."""

import json

import pytest

from engine import dialects
from engine.offline.rehearsal.observation import SentRequest, UpstreamAnswers
from engine.offline.rehearsal.stand_ins import RecordingCounters, recorder, stand_in_answer
from engine.translations import language, target_language
from engine.translations.neutral.answer import collect
from engine.upstream.client.failures import ConnectFailed, FirstByteTimeout, Reset
from engine.values.counters import Limit
from tests.support.translations import events_of

HEADERS = [("x-note", "n")]


def client(answer=200, url="http://main.test/base/v1"):
    """A client of the upstream `main`, and the list of its requests."""
    requests = []
    stand_in = recorder(requests, UpstreamAnswers(each={"main": answer}))(url)
    stand_in.name = "main"
    return stand_in, requests


def test_a_request_is_recorded_as_the_upstream_receives_it():
    stand_in, requests = client()
    stand_in.send("POST", "/base/v1/chat?a=1", HEADERS, b"{}")
    url = "http://main.test/base/v1/chat?a=1"
    assert requests == [SentRequest("main", "POST", url, tuple(HEADERS), b"{}", 200)]


def test_a_canned_response_is_read_once():
    response = client()[0].send("POST", "/base/v1/other", HEADERS, b"{}")
    assert (response.status, response.is_complete) == (200, False)
    assert response.read().startswith(b"{")
    assert (response.is_complete, response.read()) == (True, b"")


def test_an_error_is_answered_without_a_chat():
    response = client(503)[0].send("POST", "/v1/chat/completions", HEADERS, b'{"messages": []}')
    assert (response.status, response.read()) == (503, b"{}")


@pytest.mark.parametrize(
    ("answer", "failure", "is_sent"),
    [
        ("connect", ConnectFailed, False),
        ("timeout", FirstByteTimeout, True),
        ("reset", Reset, True),
    ],
)
def test_a_failure_says_whether_the_request_was_sent(answer, failure, is_sent):
    stand_in, requests = client(answer)
    with pytest.raises(failure) as excinfo:
        stand_in.send("POST", "/base/v1/chat", HEADERS, b"{}")
    assert excinfo.value.request_sent is is_sent
    assert [request.answer for request in requests] == [answer]


def test_a_request_that_cannot_be_written_is_refused_as_by_a_client():
    stand_in, requests = client()
    with pytest.raises(ValueError, match="x-note"):
        stand_in.send("GET", "/", [("x-note", "a\nb")], None)
    assert requests == []


MINUTE, SLOTS = Limit("rate/1", 60, 60.0), Limit("slots/1", 2, 0)


def test_counters_record_what_is_taken_and_stand_at_zero():
    takes = []
    result = RecordingCounters(takes).take((MINUTE, SLOTS), (5, 1))
    assert takes == [(MINUTE, 5), (SLOTS, 1)]
    assert (result.denied, result.remaining) == (None, [55, 1])


def test_a_take_beyond_a_limit_is_denied_at_its_index():
    result = RecordingCounters([]).take((MINUTE, SLOTS), (5, 3))
    assert (result.denied, result.remaining) == (1, [55, 0])


TARGETS = {
    "chat_completions": ("/v1/chat/completions", {"model": "m", "messages": []}),
    "responses": ("/v1/responses", {"model": "m", "input": "Hi"}),
    "messages": ("/v1/messages", {"model": "m", "max_tokens": 9, "messages": []}),
    "generate_content": ("/v1beta/models/m:generateContent", {"contents": []}),
}


@pytest.mark.parametrize("name", TARGETS)
def test_a_chat_is_answered_in_its_language(name):
    path, body = TARGETS[name]
    media_type, answer = stand_in_answer(path, json.dumps(body).encode())
    assert media_type == "application/json"
    (candidate,) = collect(language(name).read_answer(answer)).candidates
    assert candidate.blocks[0].text == "OK"


@pytest.mark.parametrize("method", ["converse", "converse-stream"])
def test_a_language_of_targets_alone_is_answered_with_its_example(method):
    media_type, answer = stand_in_answer(f"/model/m%3A0/{method}", b"{}")
    assert media_type == "application/json"
    (candidate,) = collect(target_language("converse").read_answer(answer)).candidates
    assert candidate.blocks[0].text == "OK"


@pytest.mark.parametrize("name", TARGETS)
def test_a_stream_is_answered_with_a_stream(name):
    path, body = TARGETS[name]
    path = path.replace(":generateContent", ":streamGenerateContent?alt=sse")
    media_type, answer = stand_in_answer(path, json.dumps({**body, "stream": True}).encode())
    assert media_type == "text/event-stream"
    (candidate,) = collect(events_of(language(name), answer)).candidates
    assert candidate.blocks[0].text == "OK"


@pytest.mark.parametrize(
    ("target", "body"),
    [
        ("/v1/embeddings", b"{}"),
        ("/v1/chat/completions", b"no JSON"),
        ("/v1/messages", b'{"messages": 3}'),
        ("/v1/messages", b"[" * 5000),
    ],
)
def test_everything_else_is_an_answer_in_every_dialect(target, body):
    answer = json.loads(stand_in_answer(target, body).body)
    assert not dialects.get("anthropic").lacks_answer(answer, "/messages")
    assert not dialects.get("openai").lacks_answer(answer, "/chat/completions")
