"""One translated exchange: what is refused, what of a hostile answer reaches a caller."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.translations import language
from engine.translations.neutral.events import BrokenAnswer, UpstreamError
from engine.translations.neutral.language import RequestLine
from engine.translations.translation import (
    MAX_ANSWER,
    MAX_ANSWER_OBJECTS,
    LossRules,
    StreamTranslator,
    TranslatedExchange,
    Translation,
)
from engine.values.errors import GatewayError
from engine.values.wildcard import Patterns

LINE = RequestLine(id="req1", time=1_700_000_000)
CHAT_TO_MESSAGES = Translation(language("chat_completions"), language("messages"))
MESSAGES_TO_CHAT = Translation(language("messages"), language("chat_completions"))
MESSAGES_TO_GEMINI = Translation(language("messages"), language("generate_content"))


LOOK_NO_JSON = {"name": "look", "arguments": "{no"}


def ask(
    translation: Translation = MESSAGES_TO_CHAT, rules: LossRules | None = None, **more: Any
) -> TranslatedExchange:
    body = {"model": "alias", **more}
    if translation.source.name != "responses":
        body["messages"] = [{"role": "user", "content": "Hi"}]
    if translation.source.name == "messages":
        body["max_tokens"] = 9
    return translation.request(json.dumps(body).encode(), LINE, "m", rules or LossRules())


def refusal(**more: Any) -> GatewayError:
    with pytest.raises(GatewayError) as excinfo:
        ask(CHAT_TO_MESSAGES, **more)
    return excinfo.value


def chunk(**delta: Any) -> bytes:
    return json.dumps({"choices": [{"index": 0, "delta": delta}]}).encode()


def call(arguments: str) -> bytes:
    function = {"name": "look", "arguments": arguments}
    message = {"tool_calls": [{"id": "c", "type": "function", "function": function}]}
    return json.dumps(
        {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    ).encode()


# Requests.


def test_a_field_that_cannot_be_carried_is_refused_by_name() -> None:
    error = refusal(logit_bias={"1": 2})
    assert (error.status, error.code, error.param) == (400, "unsupported_parameter", "logit_bias")
    assert "'alias'" in error.message


def test_a_name_of_the_callers_is_bounded_in_a_refusal() -> None:
    error = refusal(**{"x\r\ny: " + "é" * 100_000: 1})
    assert error.param.startswith("x%0D%0Ay:%20%C3%A9")
    assert len(error.param) <= 203
    assert len(error.message) < 600


@pytest.mark.parametrize(
    "rules", [LossRules(lossy=True), LossRules(drop=Patterns(("logit_bias", "x*")))]
)
def test_what_may_be_dropped_is_named(rules: LossRules) -> None:
    exchange = ask(CHAT_TO_MESSAGES, rules, logit_bias={"1": 2}, **{"x,\r": 1})
    assert exchange.dropped == ["logit_bias", "x%2C%0D"]


@pytest.mark.parametrize(
    "body",
    [
        b'{"model":"\xff"}',
        b'{"model":"m","messages":[],"x":"\xed\xa0\x80"}',
        b'{"model":"m","messages":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"model":"m","messages":[],"max_tokens":' + b"9" * 5_000 + b"}",
        b"[]",
        b"",
    ],
    ids=["no UTF-8", "a surrogate", "depth", "a number", "a list", "nothing"],
)
def test_a_request_that_cannot_be_read_is_the_callers_mistake(body: bytes) -> None:
    with pytest.raises(GatewayError) as excinfo:
        CHAT_TO_MESSAGES.request(body, LINE, "m", LossRules(lossy=True))
    assert excinfo.value.status == 400
    assert len(excinfo.value.message) < 300


# Answers in one piece.


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b'{"choices":[{"index":0,"message":{"content":"\xff"},"finish_reason":"stop"}]}',
        b'{"choices":' + b"[" * 100_000,
        b'{"created":' + b"9" * 5_000 + b',"choices":[]}',
        b'{"choices":[]}',
    ],
    ids=["HTML", "no UTF-8", "depth", "a number", "no choices"],
)
@pytest.mark.parametrize("caller", ["messages", "responses"])
def test_an_answer_that_cannot_be_read_is_broken(caller: str, body: bytes) -> None:
    translation = Translation(language(caller), language("chat_completions"))
    more = {"input": "Hi"} if caller == "responses" else {}
    with pytest.raises(BrokenAnswer, match=r"^the upstream's answer"):
        ask(translation, **more).answer(body)


@pytest.mark.parametrize("arguments", ["not JSON", "[1]", '{"a": "\\d"}'])
def test_arguments_that_are_no_object_break_an_answer_with_objects_in_their_place(
    arguments: str,
) -> None:
    with pytest.raises(BrokenAnswer, match="calls look with arguments that are not a JSON object"):
        ask().answer(call(arguments))
    responses = Translation(language("responses"), language("chat_completions"))
    answer = json.loads(ask(responses, input="Hi").answer(call(arguments)))
    assert answer["output"][0]["arguments"] == arguments


def test_names_of_the_upstream_are_bounded_in_the_message() -> None:
    with pytest.raises(BrokenAnswer) as excinfo:
        ask().answer(call("x").replace(b"look", b"l" * 100_000))
    assert len(str(excinfo.value)) <= 300


def test_an_answer_in_one_piece_may_have_a_bounded_size() -> None:
    stream = ask().stream()
    text = "x" * 8_000_000
    for _ in range(MAX_ANSWER // len(chunk(content=text))):
        stream.event(chunk(content=text))
    with pytest.raises(BrokenAnswer, match=f"over {MAX_ANSWER} bytes"):
        stream.event(chunk(content=text))


def test_an_answer_that_comes_in_one_piece_may_have_as_much() -> None:
    with pytest.raises(BrokenAnswer, match=f"over {MAX_ANSWER} bytes"):
        ask().answer(call("x" * MAX_ANSWER))


def test_calls_of_a_kind_that_only_the_caller_has_get_ids_of_their_own() -> None:
    item = {"type": "custom_tool_call", "call_id": "c", "name": "run", "input": "ls"}
    result = {"type": "custom_tool_call_output", "call_id": "c", "output": "done"}
    translation = Translation(language("responses"), language("chat_completions"))
    exchange = ask(translation, input=[item, result, {**item, "input": "pwd"}, result])
    messages = json.loads(exchange.target_request.body)["messages"]
    ids = [each["id"] for message in messages for each in message.get("tool_calls", ())]
    assert ids == ["c", "c_2"]


def test_an_answer_of_too_many_objects_is_broken() -> None:
    with pytest.raises(BrokenAnswer, match=f"over {MAX_ANSWER_OBJECTS} objects"):
        ask().answer(b'{"choices":[' + b"{}," * MAX_ANSWER_OBJECTS + b"{}]}")


def test_what_waits_for_an_answer_holds_no_messages() -> None:
    exchange = ask(metadata={"user_id": "u"}).for_answer()
    assert exchange.request.messages == []
    assert exchange.target_request.body == b""
    answer = b'{"choices":[{"index":0,"message":{"content":"Hi"},"finish_reason":"stop"}]}'
    assert json.loads(exchange.answer(answer))["content"] == [{"type": "text", "text": "Hi"}]


# Streams.


def test_what_precedes_an_error_in_one_event_is_kept() -> None:
    exchange = ask(stream=True)
    stream = exchange.stream()
    stream.event(chunk(role="assistant", content=""))
    broken = chunk(content="Hello", audio={"data": "AAAA"})
    with pytest.raises(BrokenAnswer, match="has audio"):
        stream.event(broken)
    assert b'"Hello"' in stream.take()
    assert stream.take() == b""


@pytest.mark.parametrize("finished", [True, False])
def test_a_stream_without_an_end_mark_has_all_the_candidates_that_were_asked_for(
    finished: bool,
) -> None:
    chat_to_gemini = Translation(language("chat_completions"), language("generate_content"))
    stream = ask(chat_to_gemini, n=2, stream=True).stream()
    content = {"parts": [{"text": "a"}]}
    for index in range(2 if finished else 1):
        candidate = {"index": index, "content": content, "finishReason": "STOP"}
        stream.event(json.dumps({"candidates": [candidate]}).encode())
    if finished:
        assert stream.end().endswith(b"[DONE]\n\n")
        return
    with pytest.raises(BrokenAnswer, match="without all of its candidates"):
        stream.end()


def test_an_upstream_that_marks_its_end_may_give_fewer_candidates() -> None:
    contents = [{"parts": [{"text": "a"}]}]
    body = json.dumps({"contents": contents, "generationConfig": {"candidateCount": 2}})
    translation = Translation(language("generate_content"), language("chat_completions"))
    line = RequestLine(model="m", stream=True, query="alt=sse")
    stream = translation.request(body.encode(), line, "m", LossRules()).stream()
    stop = {"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"}
    stream.event(json.dumps({"choices": [stop]}).encode())
    stream.event(b"[DONE]")
    assert stream.ended


def test_a_blocked_prompt_has_fewer_candidates() -> None:
    chat_to_gemini = Translation(language("chat_completions"), language("generate_content"))
    stream = ask(chat_to_gemini, n=2, stream=True).stream()
    stream.event(b'{"promptFeedback": {"blockReason": "SAFETY"}}')
    assert b"content_filter" in stream.end()


def test_arguments_that_are_no_json_break_a_stream_at_their_end() -> None:
    translation = Translation(language("generate_content"), language("chat_completions"))
    line = RequestLine(model="alias", stream=True, id="req1")
    body = b'{"contents":[{"parts":[{"text":"Hi"}]}]}'
    stream = translation.request(body, line, "m", LossRules()).stream()
    stream.event(chunk(tool_calls=[{"index": 0, "id": "c", "function": LOOK_NO_JSON}]))
    stream.event(b'{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}')
    with pytest.raises(BrokenAnswer, match="calls look with arguments"):
        stream.end()
    assert b"look" not in stream.take()


@pytest.mark.parametrize("caller", ["responses", "messages"])
def test_arguments_that_are_no_json_are_texts_in_these_streams(caller: str) -> None:
    translation = Translation(language(caller), language("chat_completions"))
    more = {"input": "Hi", "store": False} if caller == "responses" else {}
    stream = ask(translation, stream=True, **more).stream()
    output = stream.event(chunk(tool_calls=[{"index": 0, "id": "c", "function": LOOK_NO_JSON}]))
    output += stream.event(b'{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}')
    output += stream.end()
    assert b"{no" in output
    assert b"message_stop" in output or b"response.completed" in output


def claudes_call(stream: StreamTranslator, name: str, stop: str) -> bytes:
    """What the caller gets of Claude's call whose arguments break off, up to its stop reason."""
    call = {"type": "tool_use", "id": "c", "name": name, "input": {}}
    delta = {"type": "input_json_delta", "partial_json": '{"a":'}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "m", "role": "assistant", "model": "c"}},
        {"type": "content_block_start", "index": 0, "content_block": call},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop}},
    ]
    return b"".join(stream.event(json.dumps(event).encode()) for event in events)


@pytest.mark.parametrize(("stop", "reason"), [("tool_use", "tool_calls"), ("max_tokens", "length")])
def test_chat_callers_get_arguments_as_they_are(stop: str, reason: str) -> None:
    stream = ask(CHAT_TO_MESSAGES, stream=True).stream()
    output = claudes_call(stream, "look", stop) + stream.event(b'{"type":"message_stop"}')
    assert rb"{\"a\":" in output
    assert b'"finish_reason":"%b"' % reason.encode() in output


@pytest.mark.parametrize("stop", ["tool_use", "max_tokens"])
def test_the_arguments_that_are_an_answer_are_json_too(stop: str) -> None:
    """The answer of a model that gets the schema of its answer as that of a tool."""
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}
    stream = ask(CHAT_TO_MESSAGES, stream=True, response_format=form).stream()
    output = claudes_call(stream, "json_tool_call", stop)
    assert rb"{\"a\":" in output
    if stop == "tool_use":
        with pytest.raises(BrokenAnswer, match="not a JSON object"):
            stream.event(b'{"type":"message_stop"}')
    else:
        assert b'"finish_reason":"length"' in stream.event(b'{"type":"message_stop"}')


def test_a_stream_is_complete_with_its_end_and_nothing_follows_it() -> None:
    stream = ask(stream=True).stream()
    output = stream.event(chunk(content="Hi"))
    output += stream.event(b'{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}')
    ended = [stream.ended]
    output += stream.event(b"[DONE]")
    assert [*ended, stream.ended] == [False, True]
    assert stream.event(chunk(content="more")) + stream.event(b"[DONE]") + stream.end() == b""
    assert output.count(b"event: message_stop") == 1


# Errors.


@pytest.mark.parametrize(
    ("document", "status", "retry_after"),
    [
        (None, 429, None),
        ("no", 429, None),
        ([], 429, None),
        ({"error": {"message": 5, "details": 7}}, 429, None),
        ({"error": {"details": [{"retryDelay": "12.5s"}]}}, 429, 12.5),
        ({"error": {"details": [{"retryDelay": "1e999s"}]}}, 429, None),
        ({"error": {"details": [{"retryDelay": "9" * 400 + "s"}]}}, 429, None),
        ({"error": {"details": [{"reason": "API_KEY_INVALID"}, None]}}, 401, None),
    ],
)
def test_an_error_of_any_form_is_read(
    document: Any, status: int, retry_after: float | None
) -> None:
    error = ask(MESSAGES_TO_GEMINI).error(429, document)
    assert isinstance(error, UpstreamError)
    assert (error.status, error.retry_after) == (status, retry_after)


def test_an_errors_words_are_bounded() -> None:
    error = ask().error(400, {"error": {"message": "m" * 100_000, "code": "c" * 100_000}})
    assert (len(error.message), len(error.code)) == (4_000, 300)
