"""Streams in a framing of their own are judged and metered like server-sent events."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine import dialects
from engine.exchange.outcome import Outcome
from engine.upstream.client import failures
from engine.upstream.responses.judged_stream import EventArray
from engine.values.redaction import Redaction
from engine.values.usage import Usage
from tests.support.amazon_events import AMAZON_EVENTS, chunk, event, exception
from tests.support.answering import KEY, Answered
from tests.support.each import each
from tests.support.upstreams import EVENTS, JSON, failure

START = event("messageStart", {"role": "assistant"})
STOP = event("messageStop", {"stopReason": "end_turn"})
USAGE = {"inputTokens": 7, "outputTokens": 3, "totalTokens": 10}
METADATA = event("metadata", {"usage": USAGE, "metrics": {"latencyMs": 1}})
ERROR = exception("modelStreamErrorException", "boom")


def word(text: str = "hi") -> bytes:
    return event("contentBlockDelta", {"delta": {"text": text}, "contentBlockIndex": 0})


CLAUDE = [
    chunk({"type": "message_start", "message": {"usage": {"input_tokens": 7}}}),
    chunk({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "hi"}}),
    chunk({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}}),
    chunk({"type": "message_stop", "amazon-bedrock-invocationMetrics": {}}),
]
TITAN = [
    chunk({"outputText": "hi", "index": 0}),
    chunk({"outputText": "", "completionReason": "FINISH"}),
]


def bedrock(*messages: Any, path: str = "/model/m/converse-stream") -> Answered:
    return Answered("bedrock", AMAZON_EVENTS, *messages, body={"messages": []}, path=path)


@each("messages", [[START, word(), STOP, METADATA], [START, word(), STOP], CLAUDE, TITAN])
@pytest.mark.parametrize("size", [1, 70, 100_000])
def test_a_complete_stream_of_messages_passes_unchanged(size: int, messages: list[bytes]) -> None:
    data = b"".join(messages)
    answered = bedrock(*(data[at : at + size] for at in range(0, len(data), size)))
    assert (answered.data, answered.kind) == (data, AMAZON_EVENTS[0][1])
    assert (answered.outcome, answered.cut, answered.opened) == (Outcome.COMPLETE, False, False)
    assert answered.exchange.record.bytes_out == len(data)


@each(
    "messages",
    [[START, word()], [START, word(), word()[:-9]], CLAUDE[:2], [*CLAUDE[:2], STOP[:30]]],
)
def test_a_stream_of_messages_without_its_end_is_not_complete(messages: list[bytes]) -> None:
    answered = bedrock(*messages)
    assert (answered.outcome, answered.cut, answered.opened) == (Outcome.UPSTREAM_CUT, True, True)


@each("before", [[START, word()], CLAUDE[:2], TITAN[:1]])
@pytest.mark.parametrize("together", [True, False])
def test_an_exception_behind_content_passes_and_ends_the_stream(
    together: bool, before: list[bytes]
) -> None:
    pieces = [*before, ERROR]
    answered = bedrock(*([b"".join(pieces)] if together else pieces))
    assert answered.data == b"".join(pieces)
    assert (answered.outcome, answered.cut, answered.opened) == (Outcome.UPSTREAM_CUT, True, True)


def test_an_exception_about_the_request_does_not_count_against_the_upstream() -> None:
    answered = bedrock(START, word(), exception("validationException", "no"))
    assert (answered.outcome, answered.cut, answered.opened) == (Outcome.UPSTREAM_CUT, True, False)


def test_an_exception_with_our_credential_does_not_pass() -> None:
    answered = bedrock(START, word(), exception("internalServerException", f"{KEY} failed"))
    assert (answered.data, answered.cut) == (START + word(), True)


@each(
    ("messages", "expected", "status"),
    [
        ([ERROR], "error", 502),
        ([START, ERROR], "error", 502),
        ([CLAUDE[0], ERROR], "error", 502),
        ([START, exception("throttlingException", "slow down")], "429", 429),
        ([exception("validationException", "no")], "", 400),
        ([START], "error", 200),
        ([], "error", 200),
        ([START, failure(failures.Truncated, response_started=True)], "reset", 200),
    ],
)
def test_an_exception_before_content_is_a_failed_attempt(
    messages: list[bytes], expected: str, status: int
) -> None:
    answered = bedrock(*messages)
    assert answered.failure == expected
    assert answered.result is not None
    assert answered.result.status == status


def test_a_broken_message_behind_content_ends_the_stream() -> None:
    answered = bedrock(START, word(), b"\0" * 40)
    assert (answered.outcome, answered.cut, answered.opened) == (Outcome.UPSTREAM_CUT, True, True)


def tool(piece: str) -> bytes:
    delta = {"delta": {"toolUse": {"input": piece}}, "contentBlockIndex": 0}
    return event("contentBlockDelta", delta)


def test_the_usage_of_messages_is_what_they_report() -> None:
    assert bedrock(tool("{}"), STOP, METADATA).usage == Usage(7, 3, source="upstream")


@pytest.mark.parametrize("of_claude", [False, True])
def test_the_usage_of_messages_that_end_early_is_estimated(of_claude: bool) -> None:
    delta = {"type": "input_json_delta", "partial_json": "x" * 40}
    invoked = chunk({"type": "content_block_delta", "delta": delta})
    usage = bedrock(*[invoked if of_claude else tool("x" * 40)] * 20).usage
    assert (usage.output, usage.source) == (pytest.approx(200, rel=0.02), "estimated")


# Arrays of Gemini.

HI = {"candidates": [{"content": {"parts": [{"text": "hi"}]}}]}
END = {"candidates": [{"finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 7}}
FAILED = {"error": {"code": 503, "message": f"boom {KEY}", "status": "UNAVAILABLE"}}
PATH = "/v1beta/models/m:streamGenerateContent"


def array(*items: Any, closed: bool = True, cut: bool = False, events: bool = False) -> Answered:
    texts = [json.dumps(item) for item in items]
    if events:
        pieces: list[Any] = [f"data: {text}\n\n".encode() for text in texts]
    else:
        pieces = [(b"," if n else b"[") + text.encode() for n, text in enumerate(texts)]
        pieces += [b"]"] if closed else []
    if cut:
        pieces.append(failure(failures.Truncated, response_started=True))
    headers = EVENTS if events else JSON
    return Answered("gemini", headers, *pieces, body={"contents": []}, path=PATH)


@pytest.mark.parametrize("events", [True, False])
def test_an_error_behind_items_ends_the_array_and_counts(events: bool) -> None:
    answered = array(HI, HI, FAILED, events=events)
    assert (answered.outcome, answered.cut, answered.opened) == (Outcome.UPSTREAM_CUT, True, True)
    items = json.loads(answered.data.rstrip(b"]") + b"]")
    assert items[:2] == [HI, HI]
    assert items[2]["error"]["message"] == "boom [redacted]"


@pytest.mark.parametrize("events", [True, False])
def test_an_error_as_the_first_item_is_a_failed_attempt(events: bool) -> None:
    assert array(FAILED, events=events).failure == "error"
    assert array({"usageMetadata": {"promptTokenCount": 7}}, FAILED, events=events).failure


@each(
    "more",
    [
        {"closed": False},
        {"closed": False, "cut": True},
        {"cut": True},
        {"events": True},
        {"events": True, "cut": True},
    ],
)
def test_an_array_without_its_end_is_not_complete(more: dict[str, bool]) -> None:
    answered = array(HI, HI, **more)
    assert (answered.outcome, answered.cut, answered.opened) == (Outcome.UPSTREAM_CUT, True, True)


def test_an_array_that_is_not_closed_is_not_complete_behind_a_finish_reason() -> None:
    answered = array(HI, END, closed=False)
    assert (answered.outcome, answered.cut) == (Outcome.UPSTREAM_CUT, True)


def test_an_object_in_place_of_an_array_is_one_answer() -> None:
    text = json.dumps({**HI, **END}).encode()
    answered = Answered("gemini", JSON, text, body={"contents": []}, path=PATH)
    assert (answered.data, answered.outcome) == (text, Outcome.COMPLETE)
    failed = Answered("gemini", JSON, json.dumps(FAILED).encode(), body={}, path=PATH)
    assert failed.failure == "error"


def test_an_error_in_an_array_that_is_edited_as_a_whole_is_a_failed_attempt() -> None:
    text = json.dumps([HI, FAILED]).encode()
    edits = {"body": {"remove": ["x"]}}
    answered = Answered("gemini", JSON, text, body={"contents": []}, path=PATH, edits=edits)
    assert answered.failure == "error"


def test_events_that_are_longer_than_their_items_are_not_all_held() -> None:
    stream = EventArray(dialects.get("gemini"), Redaction([]))
    no_content = b'data: {"usageMetadata":' + b" " * 1_000 + b"{}}\n\n"
    assert stream.feed(no_content * 10) == b""
    assert stream.feed(no_content * 90).count(b"usageMetadata") == 100
