"""Large answers in one piece before a guard: they are read and written in other processes."""

from __future__ import annotations

import gzip
import json
import os
import resource

import gevent
import pytest

from engine.dialects.interface.usage import OutputMembers
from engine.guardrails import whole_answer
from engine.guardrails.whole_answer import answer_strings, rewrite
from engine.relay.held_body import LARGE
from engine.values.errors import GatewayError
from tests.guardrails.test_response import JSON, PASS, completion, judged, shout
from tests.support.waiting import until

OUTPUT = OutputMembers(strings=frozenset({"content"}), objects=frozenset({"arguments"}))
LONG = "some words, " * (LARGE // 10)


def body_of(response):
    assert not isinstance(response.body, bytes)
    return b"".join(response.body)


@pytest.mark.parametrize("encoded", [False, True])
def test_a_large_answer_is_replaced(encoded):
    text = completion(LONG)
    body = gzip.compress(text) if encoded else text
    headers = [*JSON, ("content-encoding", "gzip")] if encoded else JSON
    response, _, webhooks = judged([shout] * 100, [body[:9], body[9:]], headers)
    assert body_of(response) == completion(LONG.upper())
    assert response.headers == [("content-type", "application/json"), ("x-kept", "1")]
    asked = [json.loads(each)["texts"] for each in webhooks.questions]
    assert max(len(part["text"]) for parts in asked for part in parts) <= 20_000
    assert "".join(part["text"] for parts in asked for part in parts) == LONG


def repeat(question):
    """Replaces each text by itself."""
    return {"action": "redact", "texts": question["texts"]}


@pytest.mark.parametrize("answer", [PASS, repeat])
def test_a_large_answer_that_passes_is_unchanged(answer):
    response, *_ = judged([answer] * 100, [completion(LONG)])
    assert (body_of(response), response.headers) == (completion(LONG), JSON)


def test_a_large_answer_that_is_blocked_is_refused_at_the_first_finding():
    with pytest.raises(GatewayError) as raised:
        judged([PASS, {"action": "block"}], completion(LONG))
    assert raised.value.status == 403


def test_a_large_answer_is_reported_behind_it():
    response, exchange, webhooks = judged(
        [{"action": "block"}] * 100, iter([completion(LONG)]), mode="report"
    )
    assert body_of(response) == completion(LONG)
    until(lambda: len(exchange.record.verdicts) > 50, "the verdicts", sleep=gevent.sleep)
    assert "".join(json.loads(each)["texts"][0]["text"] for each in webhooks.questions) == LONG


@pytest.mark.parametrize("on_failure", ["pass", "block"])
def test_a_process_that_dies_is_a_failure_of_the_guard(monkeypatch, caplog, on_failure):
    monkeypatch.setattr(whole_answer, "answer_strings", lambda *arguments: os._exit(1))
    if on_failure == "pass":
        response, *_ = judged([], completion(LONG), on_failure="pass")
        assert body_of(response) == completion(LONG)
    else:
        with pytest.raises(GatewayError) as raised:
            judged([], completion(LONG))
        assert raised.value.status == 503
    assert "ended without a result" in caplog.text


def test_a_large_answer_in_an_unknown_coding_is_a_failure():
    with pytest.raises(GatewayError) as raised:
        judged([], gzip.compress(os.urandom(LARGE))[:-9], [*JSON, ("content-encoding", "gzip")])
    assert raised.value.status == 503


def test_what_is_to_be_replaced_never_passes(monkeypatch, caplog):
    monkeypatch.setattr(whole_answer, "rewrite", lambda *arguments: os._exit(1))
    with pytest.raises(GatewayError) as raised:
        judged([shout] * 100, completion(LONG), on_failure="pass")
    assert raised.value.status == 503
    assert "ended without a result" in caplog.text


def test_what_cannot_be_held_passes_as_it_is():
    text = completion(LONG)
    pieces = [text[: LARGE // 2], text[LARGE // 2 : LARGE + 100], text[LARGE + 100 :]]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGE, hard))
    try:
        response, *_ = judged([], pieces, on_failure="pass")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert body_of(response) == text


def test_the_strings_of_an_answer_are_written_to_their_places():
    text = b'{"a": [{"content": "x"}, 1.50], "content": "y", "arguments": {"b": "z"}}'
    places = {"/a/0/content": "x", "/content": "y", "/arguments/b": "z"}
    assert answer_strings(text, OUTPUT) == places
    new = rewrite(text, OUTPUT, {"/content": "Y", "/arguments/b": "Z"})
    assert new == b'{"a": [{"content": "x"}, 1.50], "content": "Y", "arguments": {"b": "Z"}}'
    assert (answer_strings(b"plain", OUTPUT), answer_strings(b"", OUTPUT)) == ({"": "plain"}, {})
    assert rewrite(b"plain", OUTPUT, {"": "new"}) == b"new"
    assert rewrite(b' "text"\n', None, {"": "new"}) == b' "new"\n'
