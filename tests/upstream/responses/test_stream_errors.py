"""The event that ends a broken stream: its text, and what the target is charged with."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine import dialects
from engine.exchange.outcome import Outcome
from engine.relay.sse import NotAnEvent
from engine.upstream.client import failures
from engine.upstream.responses.attempt_result import AttemptResult
from engine.upstream.responses.stream_errors import Failure, last_event
from engine.upstream.responses.stream_judge import ReportedError
from engine.values.errors import EventTooLarge
from tests.support.documents import exchange
from tests.support.upstreams import Client, failure, target

OPENAI, ANTHROPIC = map(dialects.get, ("openai", "anthropic"))
FAULT_OF_REQUEST = {"error": {"message": "too long", "code": "context_length_exceeded"}}
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
CUT = failure(failures.Truncated, request_sent=True, response_started=True)
SILENT = failure(failures.IdleTimeout, request_sent=True, response_started=True)


@pytest.mark.parametrize(
    ("dialect", "broken", "words", "failure_class"),
    [
        (OPENAI, CUT, "upstream_error", "reset"),
        (ANTHROPIC, SILENT, "timeout_error", "reset"),
        (OPENAI, EventTooLarge("an event of more than 1 byte"), "An event of more than", "reset"),
        (OPENAI, NotAnEvent(b"<html>"), "upstream_error", "reset"),
        (OPENAI, NotAnEvent(json.dumps(FAULT_OF_REQUEST).encode()), "too long", ""),
        (ANTHROPIC, ReportedError(OVERLOADED), "busy", "error"),
    ],
)
def test_the_last_event_says_why_the_stream_ended(
    dialect: Any, broken: Failure, words: str, failure_class: str
) -> None:
    request, result = exchange(), AttemptResult(target(Client()))
    request.record.add(result.attempt)
    event = last_event(broken, result, request, dialect)
    assert dialect.is_error(json.loads(event.partition(b"data: ")[2]))
    assert words in event.decode()
    assert request.record.outcome == Outcome.UPSTREAM_CUT
    assert request.record.attempts[-1].failure == failure_class


_REQUIRED = {
    *("id", "created_at", "error", "incomplete_details", "instructions", "metadata", "model"),
    *("object", "output", "parallel_tool_calls", "temperature", "tool_choice", "tools", "top_p"),
}
"""The members that OpenAI's document requires of a response."""


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        (CUT, "upstream_error"),
        (NotAnEvent(json.dumps(FAULT_OF_REQUEST).encode()), "context_length_exceeded"),
        (NotAnEvent(b'{"error": {"message": "x", "code": 503}, "response": 1}'), "503"),
    ],
)
def test_a_stream_of_responses_ends_with_a_failed_response(broken: Failure, code: str) -> None:
    """Codex reads no other error; the SDKs raise for the error beside it."""
    event = last_event(
        broken, AttemptResult(target(Client())), exchange(path="/v1/responses"), OPENAI
    )
    document = json.loads(event.removeprefix(b"data: "))
    error, response = document["error"], document["response"]
    assert (document["type"], document["sequence_number"]) == ("response.failed", 0)
    assert (response["status"], response["output"]) == ("failed", [])
    assert set(response) >= _REQUIRED
    assert response["error"] == {"code": code, "message": error["message"]}
    assert OPENAI.is_error(document)
    assert OPENAI.is_error_event(document)


def test_an_event_of_the_dialect_is_passed_on_as_it_is() -> None:
    event = b'data: {"error":{"message":"x"}}\n\n'
    reported = ReportedError(json.loads(event[6:]), event)
    assert last_event(reported, AttemptResult(target(Client())), exchange(), OPENAI) == event
