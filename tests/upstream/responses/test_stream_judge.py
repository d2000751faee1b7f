"""Errors that a relayed stream reports after its first content, and streams without their end."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from engine import dialects
from engine.config.upstreams import BreakerConfig
from engine.dialects.interface.error_texts import MAX_TEXT
from engine.exchange.outcome import Outcome
from engine.exchange.push_stream import PushStream
from engine.exchange.request_record import RUNNING
from engine.upstream.responses.attempt_result import AttemptResult
from engine.upstream.responses.first_content import ErrorFirst, FirstContent, read_first_content
from engine.upstream.responses.relay_response import relay
from engine.upstream.responses.stream_judge import MAX_EVENT_END, ReportedError, StreamJudge
from engine.values.errors import AbortConnection
from engine.values.event_json import LONG_EVENT
from engine.values.redaction import Redaction
from tests.support.documents import exchange
from tests.support.each import each
from tests.support.growth import MAX_GROWTH, Work, growth
from tests.support.loop_turns import loop_turns
from tests.support.upstreams import (
    EVENTS,
    JSON,
    WATCHER,
    Client,
    FakeResponse,
    returned_headers,
    target,
)

DONE = b"data: [DONE]\n\n"
CONTENT = {
    "openai": b'data: {"choices":[{"delta":{"content":"hi"}}]}\n\n',
    "anthropic": b'event: content_block_delta\ndata: {"type":"content_block_delta"}\n\n',
    "gemini": b'data: {"candidates":[{"content":{"parts":[{"text":"hi"}]}}]}\n\n',
}
NAMES = pytest.mark.parametrize("name", CONTENT)


def event(document: Any, name: bytes = b"") -> bytes:
    return name + b"data: " + json.dumps(document).encode() + b"\n\n"


ERRORS = {
    "error": event({"error": {"message": "boom", "type": "server_error", "code": 500}}),
    "vLLM": event({"object": "error", "message": "boom", "type": "InternalServerError"}),
    "no choices": event({"id": "1", "choices": None, "error": {"message": "boom", "code": 500}}),
    "code": event({"code": 50505, "message": "boom", "data": None}),
    "base_resp": event({"base_resp": {"status_code": 1000, "status_msg": "boom"}}),
    "detail": event({"detail": "boom"}),
    "status": event({"message": "boom", "status": 500}),
    "statusCode": event({"statusCode": "503", "message": "boom"}),
    "failure": event({"status": "fail", "message": "boom"}),
    "success": event({"success": False, "msg": "boom"}),
    "list": event([{"error": {"message": "boom", "code": 500}}]),
}
NAMED = event({"message": "boom", "code": 500}, b"event: error\n")
REASON = event({"choices": [{"index": 0, "delta": {}, "finish_reason": "error"}]})


class Relayed:
    """What became of a stream: the bytes, whether the connection was cut, and the records."""

    def __init__(
        self, name: str, *pieces: bytes, pipeline: bool = True, several: bool = False
    ) -> None:
        dialect = dialects.get(name)
        response: Any = FakeResponse(200, EVENTS, pieces)
        attempted = target(Client(), breaker=BreakerConfig(failures=1))
        content = read_first_content(response, dialect, content=FirstContent(b"", several=several))
        attempt = RUNNING._replace(target="t")
        result = AttemptResult(attempted, response=response, content=content, attempt=attempt)
        request = exchange()
        request.record.add(attempt)
        body = relay(result, returned_headers(result, dialect), request, dialect, WATCHER).body
        assert isinstance(body, PushStream)
        sent: list[bytes] = []
        if pipeline:
            body.pipeline.try_send = lambda data: not sent.append(data)  # type: ignore[func-returns-value]
        self.cut = False
        try:
            sent.extend(body)
        except AbortConnection:
            self.cut = True
        self.data = b"".join(sent)
        self.outcome = request.record.outcome
        self.failure = request.record.attempts[0].failure
        self.opened = attempted.state.breaker.wait(time.monotonic()) > 0


@pytest.mark.parametrize("pipeline", [True, False])
@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("form", ERRORS)
@NAMES
def test_an_error_after_content_is_no_complete_answer(
    name: str, form: str, together: bool, pipeline: bool
) -> None:
    pieces = [CONTENT[name], CONTENT[name], ERRORS[form], DONE]
    relayed = Relayed(name, *([b"".join(pieces)] if together else pieces), pipeline=pipeline)
    assert (relayed.outcome, relayed.cut) == (Outcome.UPSTREAM_CUT, True)
    assert relayed.opened
    assert relayed.failure
    assert relayed.data.startswith(CONTENT[name] * 2)
    last = relayed.data.split(b"\n\n")[-2]
    document = json.loads(last.partition(b"data: ")[2])
    assert dialects.get(name).is_error(document)
    assert "boom" in document["error"]["message"]


@pytest.mark.parametrize("together", [True, False])
def test_a_long_event_is_no_error_and_one_behind_it_is(together: bool) -> None:
    long = event({"choices": [{"delta": {"content": "no error " * 200_000}}]})
    pieces = [CONTENT["openai"], long, ERRORS["error"], DONE]
    relayed = Relayed("openai", *([b"".join(pieces)] if together else pieces))
    assert (relayed.outcome, relayed.cut) == (Outcome.UPSTREAM_CUT, True)
    assert relayed.data.startswith(CONTENT["openai"] + long)
    assert b"boom" in relayed.data[-500:]


WITHOUT_THE_WORD = {
    "vLLM": event({"choices": [{"index": 0, "delta": {}, "finish_reason": "abort"}]}),
    "DeepSeek": REASON.replace(b'"error"', b'"insufficient_system_resource"'),
    "response": event({"type": "response.failed", "response": {}}),
    "ended": event({"type": "response.completed", "response": {"status": "failed"}}),
    "TensorRT-LLM": REASON.replace(b'"error"', b'"timeout"'),
    "NVIDIA Dynamo": REASON.replace(b'"error"', b'"cancelled"'),
    "Cohere": REASON.replace(b'"error"', b'"ERROR"'),
    "limit": REASON.replace(b'"error"', b'"rate_limit"'),
    "failed": REASON.replace(b'"error"', b'"failed"'),
    "escaped": event({"base_resp": {"status_code": 1000}}).replace(b"base", b"\\u0062ase"),
}


WITHOUT_JSON = [
    b"event: error\ndata: {}\n\n",
    b"event: error\ndata: boom\n\n",
    b"data: error: boom\n\n",
    b"data: [ERROR] boom\n\n",
]


@pytest.mark.parametrize("form", WITHOUT_JSON)
@NAMES
def test_an_error_may_be_no_json(name: str, form: bytes) -> None:
    relayed = Relayed(name, CONTENT[name], form, DONE)
    assert (relayed.outcome, relayed.cut) == (Outcome.UPSTREAM_CUT, True)
    last = json.loads(relayed.data.split(b"data: ")[-1])
    assert dialects.get(name).is_error(last)


@pytest.mark.parametrize("form", [b"data: error: %b\n\n", b"event: error\ndata: %b\n\n"])
def test_the_words_of_an_error_are_bounded(form: bytes) -> None:
    relayed = Relayed("openai", CONTENT["openai"], form % (b"boom " * 10_000))
    message = json.loads(relayed.data.split(b"data: ")[-1])["error"]["message"]
    assert "boom boom" in message
    assert len(message) <= MAX_TEXT


def test_an_error_may_be_the_first_event_that_is_kept() -> None:
    content = CONTENT["openai"]
    relayed = Relayed("openai", content, b"data: ERROR boom\n\n", *[content] * 6, DONE)
    assert (relayed.outcome, relayed.cut) == (Outcome.UPSTREAM_CUT, True)


@pytest.mark.parametrize("form", WITHOUT_THE_WORD)
def test_an_error_without_the_word_is_found_at_the_end(form: str) -> None:
    relayed = Relayed("openai", CONTENT["openai"], WITHOUT_THE_WORD[form], DONE)
    assert (relayed.outcome, relayed.cut) == (Outcome.UPSTREAM_CUT, True)


def test_a_completed_response_that_has_failed_has_no_clean_end() -> None:
    response = {"status": "failed", "error": {"message": "boom", "code": "server_error"}}
    failed = event({"type": "response.completed", "response": response})
    relayed = Relayed("openai", CONTENT["openai"], failed)
    assert (relayed.outcome, relayed.cut, relayed.opened) == (Outcome.UPSTREAM_CUT, True, True)
    assert json.loads(relayed.data.split(b"data: ")[-1])["error"]["message"] == "boom"


def test_only_the_event_with_an_error_is_judged() -> None:
    text = CONTENT["openai"].replace(b"hi", b"an error")
    pieces = [text, CONTENT["openai"], ERRORS["error"], CONTENT["openai"]]
    relayed = Relayed("openai", CONTENT["openai"], b"".join(pieces))
    assert relayed.data == CONTENT["openai"] + b"".join(pieces[:3])


@pytest.mark.parametrize("error", [NAMED, REASON], ids=["named", "finish reason"])
def test_an_error_that_only_its_name_or_reason_tells_is_one(error: bytes) -> None:
    relayed = Relayed("openai", CONTENT["openai"], error, DONE)
    assert (relayed.outcome, relayed.cut, relayed.opened) == (Outcome.UPSTREAM_CUT, True, True)
    assert DONE not in relayed.data


def test_an_error_of_the_dialect_is_relayed_unchanged() -> None:
    error = event({"error": {"message": "boom", "extra": [1]}})
    assert Relayed("openai", CONTENT["openai"], error, DONE).data == CONTENT["openai"] + error


def test_an_error_about_the_request_does_not_count_against_the_upstream() -> None:
    error = event({"error": {"message": "no", "type": "invalid_request_error"}})
    relayed = Relayed("openai", CONTENT["openai"], error)
    assert (relayed.outcome, relayed.opened) == (Outcome.UPSTREAM_CUT, False)


def test_a_failed_response_is_relayed_with_its_end() -> None:
    delta = event({"type": "response.output_text.delta", "delta": "hi"})
    inner = {"error": {"code": "server_error", "message": "boom"}}
    failed = event({"type": "response.failed", "response": inner}, b"event: response.failed\n")
    relayed = Relayed("openai", delta, failed, b"")
    assert relayed.data == delta + failed
    assert (relayed.outcome, relayed.cut, relayed.opened) == (Outcome.UPSTREAM_CUT, False, True)


@NAMES
def test_the_word_error_in_a_text_is_no_error(name: str) -> None:
    word = CONTENT[name].replace(b"hi", b'an \\"error\\"')
    ends = {
        "openai": DONE,
        "anthropic": b'data: {"type":"message_stop"}\n\n',
        "gemini": b'data: {"candidates":[{"finishReason":"STOP"}]}\n\n',
    }
    relayed = Relayed(name, word, word, word, ends[name])
    assert relayed.data == word * 3 + ends[name]
    assert (relayed.outcome, relayed.cut) == (Outcome.COMPLETE, False)


@pytest.mark.parametrize(
    ("name", "end", "complete"),
    [
        ("openai", b"", False),
        ("openai", DONE, True),
        ("openai", event({"choices": [{"delta": {}, "finish_reason": "stop"}]}), True),
        ("anthropic", b"", False),
        ("anthropic", event({"type": "message_stop"}), True),
        ("anthropic", event({"type": "message_delta", "delta": {"stop_reason": "x"}}), True),
        ("gemini", b"", False),
        ("gemini", event({"candidates": [{"finishReason": "STOP"}]}), True),
        ("gemini", event({"candidates": [{"finishReason": "FINISH_REASON_UNSPECIFIED"}]}), False),
        ("gemini", event({"promptFeedback": {"blockReason": "OTHER"}}), True),
    ],
)
def test_a_stream_is_complete_with_its_end(name: str, end: bytes, complete: bool) -> None:
    usage = event({"usage": {}, "choices": []}) if name == "openai" and end != DONE else b""
    relayed = Relayed(name, CONTENT[name], end, usage)
    expected = Outcome.COMPLETE if complete else Outcome.UPSTREAM_CUT
    assert (relayed.outcome, relayed.cut, relayed.opened) == (expected, not complete, not complete)


def choices(name: str, *each: tuple[int, str, str]) -> bytes:
    """An event with parts of several answers: their indexes, texts and ends."""
    if name == "gemini":
        items = [
            {"index": index, "content": {"parts": [{"text": text}]}, "finishReason": end}
            for index, text, end in each
        ]
        return event({"candidates": items})
    items = [
        {"index": index, "delta": {"content": text}, "finish_reason": end or None}
        for index, text, end in each
    ]
    return event({"choices": items})


@pytest.mark.parametrize("pipeline", [True, False])
@pytest.mark.parametrize("count", [1, 20])
@pytest.mark.parametrize("last", [b"", DONE])
@pytest.mark.parametrize("cut", [0, 1, None])
@pytest.mark.parametrize("name", ["openai", "gemini"])
def test_each_of_several_answers_has_an_end(
    name: str, cut: int | None, last: bytes, count: int, pipeline: bool
) -> None:
    begun = choices(name, (0, "a", ""), (1, "b", ""))
    ends = [choices(name, (index, "", "STOP")) for index in (0, 1) if index != cut]
    more = [choices(name, (0 if cut is None else cut, "x", ""))] * count
    pieces = [begun, ends[0], *more, *ends[1:], last]
    relayed = Relayed(name, *pieces, pipeline=pipeline, several=True)
    expected = Outcome.COMPLETE if cut is None else Outcome.UPSTREAM_CUT
    assert (relayed.outcome, relayed.cut) == (expected, cut is not None)


@pytest.mark.parametrize("pipeline", [True, False])
@pytest.mark.parametrize("name", ["openai", "gemini"])
def test_the_end_of_an_answer_may_be_far_from_those_of_others(name: str, pipeline: bool) -> None:
    begun = choices(name, (0, "a", ""), (1, "b", ""))
    more = choices(name, (1, "x" * MAX_EVENT_END, "")) + choices(name, (1, "", "STOP"))
    pieces = [begun, choices(name, (0, "", "STOP")) + more, DONE]
    relayed = Relayed(name, *pieces, pipeline=pipeline, several=True)
    assert relayed.outcome is Outcome.COMPLETE


def test_no_more_answers_are_followed_than_vendors_give() -> None:
    ended = [choices("openai", (index, "a", "STOP")) for index in range(130)]
    begun = [choices("openai", (index, "a", "")) for index in range(1_000, 2_000)]
    assert Relayed("openai", *ended, *begun, DONE, several=True).outcome is Outcome.COMPLETE
    last = choices("openai", (127, "a", ""))
    cut = Relayed("openai", *ended[:127], last, DONE, several=True)
    assert cut.outcome is Outcome.UPSTREAM_CUT


def test_several_answers_of_a_server_that_names_no_ends_are_complete() -> None:
    begun = choices("openai", (0, "a", ""), (1, "b", ""))
    assert Relayed("openai", begun, DONE, several=True).outcome is Outcome.COMPLETE


@pytest.mark.parametrize("pipeline", [True, False])
@pytest.mark.parametrize("comment", [b": beat\n\n", b":\n: a\n\n: b\n\n"])
@pytest.mark.parametrize("count", [0, 20])
@pytest.mark.parametrize("complete", [True, False])
def test_comments_do_not_hide_whether_a_stream_has_its_end(
    complete: bool, count: int, comment: bytes, pipeline: bool
) -> None:
    reason = "stop" if complete else None
    end = event({"choices": [{"delta": {"content": "x"}, "finish_reason": reason}]})
    usage = event({"usage": {}, "choices": []})
    before, after = [comment] * 20, [comment] * count
    relayed = Relayed("openai", CONTENT["openai"], end, *before, usage, *after, pipeline=pipeline)
    expected = Outcome.COMPLETE if complete else Outcome.UPSTREAM_CUT
    assert (relayed.outcome, relayed.cut) == (expected, not complete)
    assert relayed.data.startswith(b"".join((CONTENT["openai"], end, *before, usage, *after)))


def test_an_end_that_arrives_with_a_comment_counts() -> None:
    relayed = Relayed("openai", *[CONTENT["openai"]] * 20, b": x\n\n" + DONE)
    assert relayed.outcome is Outcome.COMPLETE


@pytest.mark.parametrize("kind", ["response.output_text.delta", "transcript.text.delta"])
def test_events_with_a_type_have_a_last_one(kind: str) -> None:
    start = kind.partition(".delta")[0].partition(".output")[0]
    last = {"response": "response.completed", "transcript.text": "transcript.text.done"}[start]
    delta = event({"type": kind, "delta": "x"})
    assert Relayed("openai", delta, DONE).outcome is Outcome.UPSTREAM_CUT
    assert Relayed("openai", delta, event({"type": last})).outcome is Outcome.COMPLETE


def test_a_stream_of_another_kind_needs_no_end() -> None:
    assert Relayed("openai", b'data: {"some":"thing"}\n\n').outcome is Outcome.COMPLETE


@pytest.mark.parametrize("form", [*ERRORS.values(), NAMED, REASON, DONE])
def test_an_error_before_content_is_a_failure(form: bytes) -> None:
    response: Any = FakeResponse(200, EVENTS, [form, DONE])
    with pytest.raises(ErrorFirst):
        read_first_content(response, dialects.get("openai"))


@pytest.mark.parametrize("form", ["vLLM", "no choices", "code", "base_resp"])
@NAMES
def test_an_error_in_place_of_an_answer_is_a_failure(name: str, form: str) -> None:
    body = ERRORS[form].removeprefix(b"data: ").strip()
    response: Any = FakeResponse(200, JSON, [body[:70], body[70:]])
    with pytest.raises(ErrorFirst) as excinfo:
        read_first_content(response, dialects.get(name))
    assert "boom" in json.dumps(excinfo.value.document)


LATE = {
    "anthropic": event({"type": "ping"}, b"event: ping\n"),
    "openai": event({"type": "keepalive"}, b"event: keepalive\n"),
    "gemini": event({"usageMetadata": {"promptTokenCount": 7}}),
}
RESPONSES = [
    event({"type": "response.created", "response": {}}),
    event({"type": "response.output_text.delta", "delta": "hi"}),
]


@each(
    ("name", "beginning"),
    [*((name, [content]) for name, content in CONTENT.items()), ("openai", RESPONSES)],
)
@pytest.mark.parametrize("count", [1, 8, 40])
def test_events_that_keep_a_stream_alive_are_not_its_end(
    count: int, name: str, beginning: list[bytes]
) -> None:
    relayed = Relayed(name, *beginning, *[LATE[name]] * count)
    assert (relayed.outcome, relayed.cut, relayed.opened) == (Outcome.UPSTREAM_CUT, True, True)


def test_events_with_the_word_error_cost_what_each_costs() -> None:
    def prepare(size: int) -> Work:
        judge = StreamJudge(dialects.get("openai"), Redaction(["sk-secret"]))
        events = b'data: {"error":null}\n\n' * size
        return lambda: (judge.check(events), judge.end())

    assert growth(prepare) < MAX_GROWTH


SECRET = "sk-live-0123456789abcdef"
LONG = event({"choices": [{"delta": {"content": "x" * LONG_EVENT}}]})


def test_events_beside_a_long_one_pass_clean_and_uncopied() -> None:
    judge, content = StreamJudge(dialects.get("openai"), Redaction([SECRET])), CONTENT["openai"]
    clean = content + LONG + content
    assert judge.check(clean) is clean
    named = event({"choices": [{"delta": {"content": f"an error of {SECRET}"}}]})
    passed = judge.check(named + LONG)
    assert (SECRET.encode() in passed, passed.endswith(LONG)) == (False, True)
    assert judge.failure is None
    assert judge.check(clean + ERRORS["error"] + content) == clean
    assert isinstance(judge.failure, ReportedError)


def test_the_loop_turns_between_events_beside_a_long_one() -> None:
    judge = StreamJudge(dialects.get("openai"), Redaction([]), several=True)
    data = LONG + CONTENT["openai"] * 20
    assert loop_turns(lambda: judge.check(data)) >= 20
    assert loop_turns(lambda: judge.keep_long(data)) >= 20
