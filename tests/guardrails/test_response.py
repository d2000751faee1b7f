"""Answers before a guard: whole, in windows of a stream, and those that cannot be judged."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator

import pytest
from gevent import GreenletExit

from engine.exchange.exchange import Response
from engine.exchange.outcome import Outcome
from engine.exchange.push_stream import Pipeline, PushStream
from engine.guardrails import whole_answer
from engine.guardrails.guard import Guard
from engine.guardrails.response import judge_response
from engine.guardrails.settings import GuardSettings
from engine.values.errors import AbortConnection, AbortReason, GatewayError
from engine.values.event_json import LONG_EVENT
from tests.guardrails.test_held_events import delta, texts_in
from tests.support.exchanges import new_exchange
from tests.support.guard_calls import PlayedGuards
from tests.support.loop_turns import loop_turns

JSON = [("content-type", "application/json"), ("content-length", "99"), ("x-kept", "1")]
EVENTS = [("content-type", "text/event-stream")]
PASS = {"action": "pass"}


def completion(text):
    return json.dumps({"choices": [{"message": {"content": text}}], "usage": {}}).encode()


def shout(question):
    """Replaces each text by itself in capitals."""
    texts = [{**part, "text": part["text"].upper()} for part in question["texts"]]
    return {"action": "redact", "texts": texts}


def judged(answers, body, headers=JSON, status=200, **options):
    webhooks = PlayedGuards(answers)
    options = {"webhook": "w", "mode": "redact", "window": 20, "overlap": 5, **options}
    exchange = new_exchange()
    response = Response(status, [*headers], body)
    response = judge_response(Guard(GuardSettings.read(options), webhooks), exchange, response)
    return response, exchange, webhooks


@pytest.mark.parametrize("in_pieces", [False, True])
@pytest.mark.parametrize("encoded", [False, True])
def test_an_answer_in_one_piece_is_replaced(in_pieces, encoded):
    body = gzip.compress(completion("hi")) if encoded else completion("hi")
    headers = [*JSON, ("content-encoding", "gzip")] if encoded else JSON
    response, *_ = judged([shout], [body[:9], body[9:]] if in_pieces else body, headers)
    assert response.body == completion("HI")
    assert response.headers == [("content-type", "application/json"), ("x-kept", "1")]


def test_an_answer_that_passes_is_unchanged():
    response, *_ = judged([PASS], completion("hi"))
    assert (response.body, response.headers) == (completion("hi"), JSON)


def test_a_plain_text_is_one_text():
    response, _, webhooks = judged([shout], b"hi", [("content-type", "text/plain; charset=utf-8")])
    assert response.body == b"HI"
    assert json.loads(webhooks.questions[0])["texts"] == [{"pointer": "", "text": "hi"}]


@pytest.mark.parametrize(
    ("status", "headers", "body"),
    [
        (400, JSON, b'{"error": {"message": "no"}}'),
        (204, [], b""),
        (200, [("content-type", "audio/mpeg")], b"ID3"),
        (200, JSON, b'{"choices": []}'),
    ],
)
def test_what_has_no_texts_of_a_model_is_not_judged(status, headers, body):
    response, _, webhooks = judged([], body, headers, status)
    assert (response.body, webhooks.questions) == (body, [])


@pytest.mark.parametrize(
    "headers",
    [
        [("content-type", "application/vnd.amazon.eventstream")],
        [("content-type", "application/x-ndjson")],
        [],
        [*EVENTS, ("content-encoding", "br")],
        [*JSON, ("content-encoding", "unknown")],
    ],
)
def test_what_cannot_be_read_is_a_failure(headers):
    with pytest.raises(GatewayError) as excinfo:
        judged([], b"\x00", headers)
    assert excinfo.value.code == "guard_unavailable"
    response, *_ = judged([], b"\x00", headers, on_failure="pass")
    assert response.body == b"\x00"


def stream_of(answers, *pieces, **options):
    response, exchange, webhooks = judged(answers, iter(pieces), EVENTS, **options)
    return iter(response.body), exchange, webhooks


def test_an_event_that_cannot_be_read_is_one_failure():
    pieces = [b"data: no\n\n", *map(delta, "abcdef")]
    stream, exchange, webhooks = stream_of([PASS], *pieces, on_failure="pass", overlap=10)
    assert b"".join(stream) == b"".join(pieces)
    assert (len(webhooks.questions), exchange.record.verdicts) == (1, ("response:failed",))


def test_a_stream_is_judged_in_windows_with_what_was_held_of_the_last():
    stream, _, webhooks = stream_of(
        [PASS, shout], delta("a" * 12), delta("b" * 8), delta("c" * 5), b"data: [DONE]\n\n"
    )
    pieces = list(stream)
    asked = [json.loads(body) for body in webhooks.questions]
    assert [each["texts"][0]["text"] for each in asked] == ["a" * 12 + "b" * 8, "b" * 8 + "c" * 5]
    assert [each["window"] for each in asked] == [
        {"number": 0, "last": False},
        {"number": 1, "last": True},
    ]
    assert texts_in(b"".join(pieces)) == ["a" * 12, "B" * 8 + "C" * 5, ""]
    assert pieces[-1].endswith(b"data: [DONE]\n\n")


def test_nothing_is_sent_before_its_verdict_but_comments():
    released = []

    def source() -> Iterator[bytes]:
        yield delta("a" * 12)
        yield b": ping\n\n"
        assert released == [b": ping\n\n"]
        yield delta("b" * 12)

    response, *_ = judged([PASS, PASS], source(), EVENTS)
    released.extend(response.body)
    assert texts_in(b"".join(released)) == ["a" * 12, "b" * 12]


def test_an_event_that_is_no_json_cannot_be_judged():
    stream, exchange, _ = stream_of([], b"data: plain words\n\n")
    assert b"guard_unavailable" in next(stream)
    assert exchange.record.verdicts == ("response:failed",)
    stream, *_ = stream_of([], b"data: plain words\n\n", on_failure="pass")
    assert b"".join(stream) == b"data: plain words\n\n"


def test_a_part_of_an_answer_cannot_be_judged():
    with pytest.raises(GatewayError):
        judged([], completion("hi"), status=206)


def test_a_blocked_window_ends_the_stream_with_the_error_event():
    closed = []

    def source() -> Iterator[bytes]:
        try:
            yield delta("a" * 30)
            yield delta("never read")
        finally:
            closed.append(True)

    response, exchange, _ = judged([{"action": "block"}], source(), EVENTS)
    stream = iter(response.body)
    event = json.loads(next(stream).decode().removeprefix("data: "))
    assert event["error"]["code"] == "content_blocked"
    with pytest.raises(AbortConnection):
        next(stream)
    record = exchange.record
    assert (record.outcome, record.code) == (Outcome.REFUSED, "content_blocked")
    assert closed == [True]


@pytest.mark.parametrize(
    ("cause", "reason"),
    [
        (
            AbortConnection(AbortReason.RESPONSE_BROKE_OFF),
            AbortReason.RESPONSE_BROKE_OFF,
        ),
        (GreenletExit(), AbortReason.SHUTDOWN),
    ],
)
def test_a_stream_that_breaks_off_breaks_off_behind_what_was_judged(cause, reason):
    def source() -> Iterator[bytes]:
        yield delta("a" * 9)
        raise cause

    response, *_ = judged([PASS], source(), EVENTS)
    pieces = iter(response.body)
    assert next(pieces) != b""
    with pytest.raises(AbortConnection) as excinfo:
        next(pieces)
    assert excinfo.value.reason is reason


def test_a_guard_that_reports_lets_all_pass_at_once():
    stream, *_ = stream_of([], delta("a" * 9), delta("b" * 9), mode="report")
    assert texts_in(next(stream)) == ["a" * 9]
    assert texts_in(next(stream)) == ["b" * 9]
    body = [completion("hi")]
    response, *_ = judged([], iter(body), mode="report")
    assert list(response.body) == body


def endless(piece):
    """A large answer; the pieces that were taken of it."""
    taken = []

    def pieces():
        for _ in range(100):
            taken.append(piece)
            yield piece

    return pieces(), taken


def test_no_more_of_an_answer_is_collected_than_can_be_judged(monkeypatch):
    monkeypatch.setattr(whole_answer, "MAX_ANSWER", 25)
    pieces, taken = endless(b"x" * 10)
    with pytest.raises(GatewayError) as raised:
        judged([], pieces)
    assert (raised.value.status, len(taken)) == (503, 3)


def test_a_large_answer_that_may_pass_is_whole(monkeypatch):
    monkeypatch.setattr(whole_answer, "MAX_ANSWER", 25)
    pieces, taken = endless(b"x" * 10)
    passed, *_ = judged([], pieces, on_failure="pass")
    assert len(taken) == 3
    assert b"".join(passed.body) == b"x" * 1_000


def test_a_long_event_that_comes_in_several_pieces_is_judged_as_one():
    event = delta("long " * 100_000)
    pieces = PushStream([event, delta("hi"), b"data: [DONE]\n\n"], Pipeline())
    response, _, webhooks = judged([PASS] * 100, pieces, EVENTS)
    sent = b"".join(response.body)
    assert sent == event + delta("hi") + b"data: [DONE]\n\n"
    texts = [part["text"] for each in webhooks.questions for part in json.loads(each)["texts"]]
    assert "".join(texts).startswith("long " * 100_000)


@pytest.mark.parametrize("comment", [b": thinking\n\n", b":\n: a\n\n"])
def test_a_comment_is_sent_at_once_and_what_follows_it_in_a_piece_is_judged(comment):
    passed, _, webhooks = judged([shout], [comment, comment + delta("hi")], EVENTS)
    sent = list(passed.body)
    assert sent[0] == comment
    assert texts_in(b"".join(sent)) == ["HI"]
    assert len(webhooks.questions) == 1


def test_the_loop_turns_between_pieces_that_pass_at_once():
    response, *_ = judged([], iter([b": beat\n\n"] * 20), EVENTS)
    assert loop_turns(lambda: list(response.body)) >= 20


def test_a_long_comment_is_one_that_says_nothing():
    comment = b": " + b"x" * LONG_EVENT + b"\n\n"
    pieces = iter([comment, delta("one"), comment, delta("two")])
    response, _, webhooks = judged([PASS, PASS], pieces, EVENTS)
    assert b"".join(response.body) == comment + delta("one") + comment + delta("two")
    assert len(webhooks.questions) == 1


def test_a_long_event_is_rewritten_as_a_short_one():
    long, answer = "x" * LONG_EVENT, []
    pieces = iter([delta("a" + long), delta("b")])
    response, *_ = judged([shout] * 1_000, pieces, EVENTS, chunk=100_000)
    turns = loop_turns(lambda: answer.append(b"".join(response.body)))
    assert "".join(texts_in(answer[0])) == "A" + long.upper() + "B"
    assert turns >= 3
