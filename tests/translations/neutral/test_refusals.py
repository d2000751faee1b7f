"""The words in which a request is refused that cannot be carried."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from engine.translations import language, target_languages
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.refusals import MAX_OBJECTS, has_more_objects
from engine.translations.translation import LossRules, Translation
from engine.values.errors import GatewayError
from engine.values.wildcard import Patterns
from tests.support.each import each

TURNS = [{"role": "user", "content": "Hi"}]
FIELDS = {"logit_bias": {"1": 2}, "n": 2, "seed": 3, "logprobs": True, "presence_penalty": 1}


def refusal(drop: tuple[str, ...] = (), **fields: Any) -> GatewayError:
    """The refusal of a chat with these fields for a target that speaks messages."""
    translation = Translation(language("chat_completions"), language("messages"))
    body = json.dumps({"model": "claude", "messages": TURNS, **fields}).encode()
    with pytest.raises(GatewayError) as excinfo:
        translation.request(
            body, RequestLine(), "claude-sonnet-4-5", LossRules(False, Patterns(drop))
        )
    return excinfo.value


def test_one_field_is_named() -> None:
    error = refusal(logit_bias={"1": 2})
    assert (error.status, error.code, error.param) == (400, "unsupported_parameter", "logit_bias")
    assert error.message == (
        "The model 'claude' does not support 'logit_bias'. Leave it out, or ask the operator "
        "to drop it for this model."
    )


@pytest.mark.parametrize("body", [b"[]", b'{"x": "\\ud83d"}', b"{"])
def test_what_is_no_json_has_no_place(body: bytes) -> None:
    translation = Translation(language("messages"), language("chat_completions"))
    with pytest.raises(GatewayError) as excinfo:
        translation.request(body, RequestLine(), "m", LossRules())
    assert (excinfo.value.code, excinfo.value.param) == ("invalid_json", "")
    assert "must be an object as JSON" in excinfo.value.message


def test_every_field_is_named_in_one_message() -> None:
    error = refusal(**FIELDS)
    assert all(f"'{name}'" in error.message for name in FIELDS)
    assert error.param in FIELDS
    assert "Leave them out" in error.message


def test_a_field_that_may_be_dropped_is_not_named() -> None:
    assert "'seed'" not in refusal(drop=("seed",), **FIELDS).message


AUDIO = {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}}
ROUND = [*TURNS, {"role": "assistant", "content": "Yes?"}]


@each(
    ("turns", "place"),
    [
        ([{"role": "user", "content": [AUDIO]}], "messages"),
        ([*ROUND, {"role": "user", "content": [AUDIO]}], "messages[2]"),
        (
            [*ROUND, {"role": "user", "content": [AUDIO, {"type": "text", "text": " "}]}],
            "messages[2]",
        ),
    ],
)
@pytest.mark.parametrize("rules", [LossRules(lossy=True), LossRules(drop=Patterns(["messages.*"]))])
def test_the_last_turn_is_not_dropped(rules: LossRules, turns: Any, place: str) -> None:
    """The model would go on with the turn before it."""
    translation = Translation(language("chat_completions"), language("messages"))
    body = json.dumps({"model": "claude", "messages": turns}).encode()
    with pytest.raises(GatewayError, match="turn with content for this model") as excinfo:
        translation.request(body, RequestLine(), "claude-opus-4-1", rules)
    assert (excinfo.value.status, excinfo.value.param) == (400, place)


def test_what_cannot_be_carried_is_named_rather_than_the_turn_that_it_leaves_empty() -> None:
    assert "takes no audio" in refusal(messages=[{"role": "user", "content": [AUDIO]}]).message


def test_of_many_fields_five_are_named_and_the_others_counted() -> None:
    error = refusal(**{f"x_{number}": number for number in range(1000)})
    assert error.message.count("'x_") == 5
    assert "and 995 more. Leave them out" in error.message


def test_a_reason_stands_with_its_field() -> None:
    turns = [*TURNS, {"role": "user", "content": [AUDIO]}]
    message = refusal(messages=turns, n=2).message
    assert "'messages[1].content[0]' (the model takes no audio)" in message


ASKED = {"role": "user", "content": "And now?"}
SPOKEN = {"role": "assistant", "content": None, "audio": {"id": "audio_1"}}
CONTENTS = [{"role": "user", "parts": [{"text": "And now?"}]}]
THREAD = {"type": "continue", "previous_message_id": "msg_1"}
CHAT = {"messages": [*TURNS, SPOKEN, ASKED]}
REFERENCES = [
    ("responses", {"input": "Hi", "previous_response_id": "resp_1"}, "previous_response_id"),
    ("responses", {"input": "Hi", "conversation": {"id": "conv_1"}}, "conversation"),
    ("responses", {"input": "Hi", "prompt": {"id": "pmpt_1"}}, "prompt"),
    ("responses", {"input": [{"type": "item_reference", "id": "m"}, ASKED]}, "input[0]"),
    ("responses", {"input": [{"id": "msg_1"}, ASKED]}, "input[0]"),
    ("responses", {"input": [{"type": "compaction", "encrypted_content": "x"}, ASKED]}, "input[0]"),
    ("messages", {"max_tokens": 9, "messages": [ASKED], "thread": THREAD}, "thread"),
    ("chat_completions", CHAT, "messages[1].audio"),
    (
        "generate_content",
        {"contents": CONTENTS, "cachedContent": "cachedContents/1"},
        "cachedContent",
    ),
    (
        "generate_content",
        {"contents": CONTENTS, "cached_content": "cachedContents/1"},
        "cachedContent",
    ),
]
ALL_RULES = (LossRules(), LossRules(lossy=True), LossRules(drop=Patterns(("*",))))


@each(("caller", "members", "place"), REFERENCES)
def test_turns_that_are_not_in_the_request_are_never_dropped(
    caller: str, members: dict[str, Any], place: str
) -> None:
    """An answer without them would be a wrong one with the status 200."""
    body = json.dumps({"model": "m", **members}).encode()
    targets = [target for target in target_languages() if target.name != caller]
    for target, rules in itertools.product(targets, ALL_RULES):
        with pytest.raises(GatewayError, match=r"not in the request. Send ") as excinfo:
            Translation(language(caller), target).request(body, RequestLine(), "m", rules)
        assert (excinfo.value.status, excinfo.value.param) == (400, place)


def test_a_spoken_answer_whose_words_are_there_is_not_missing() -> None:
    turns = [*TURNS, {**SPOKEN, "content": "Yes?"}, ASKED]
    translation = Translation(language("chat_completions"), language("messages"))
    body = json.dumps({"model": "m", "messages": turns}).encode()
    exchange = translation.request(body, RequestLine(), "claude-opus-4-1", LossRules(lossy=True))
    assert exchange.dropped == ["messages.audio"]


@pytest.mark.parametrize(
    ("thread", "rules"),
    [({"type": "create"}, LossRules()), (THREAD, LossRules()), (THREAD, LossRules(lossy=True))],
)
def test_an_sdk_is_told_in_its_vendors_words_to_go_on_without_a_thread(
    thread: Any, rules: LossRules
) -> None:
    translation = Translation(language("messages"), language("responses"))
    body = json.dumps({"model": "m", "max_tokens": 9, "messages": TURNS, "thread": thread})
    with pytest.raises(GatewayError) as excinfo:
        translation.request(body.encode(), RequestLine(), "gpt-5", rules)
    assert excinfo.value.details == {
        "error_code": "thread_unsupported_request",
        "unsupported": ["thread"],
    }


def test_the_refusal_of_another_field_says_nothing_of_a_thread_that_may_be_dropped() -> None:
    translation = Translation(language("messages"), language("responses"))
    members = {"thread": {"type": "create"}, "mcp_servers": [{}]}
    body = json.dumps({"model": "m", "max_tokens": 9, "messages": TURNS, **members})
    rules = LossRules(drop=Patterns(("thread",)))
    with pytest.raises(GatewayError, match="mcp_servers") as excinfo:
        translation.request(body.encode(), RequestLine(), "gpt-5", rules)
    assert excinfo.value.details is None


@pytest.mark.parametrize(
    ("text", "more"),
    [
        (b'{"a":1}' * 3, True),
        (b'{"a":1}' * 2, False),
        (b'{ \n"a":{}}{}', True),
        (b'"{}{}{}{\\"a"', True),
        (b'"{ a } { b } { c } {\\"d\\""', False),
        (b"[" * 9, False),
    ],
)
def test_objects_are_counted_outside_of_words(text: bytes, more: bool) -> None:
    assert has_more_objects(text, 2) is more


def test_a_request_of_too_many_objects_is_refused() -> None:
    turns = b'{"role":"user","content":"Hi"},' * MAX_OBJECTS + b"{}"
    body = b'{"model":"claude","messages":[' + turns + b"]}"
    translation = Translation(language("chat_completions"), language("messages"))
    with pytest.raises(GatewayError) as excinfo:
        translation.request(body, RequestLine(), "claude-sonnet-4-5", LossRules(lossy=True))
    assert (excinfo.value.status, excinfo.value.code) == (400, "request_too_complex")


def test_an_error_behind_words_has_its_own_message_and_code() -> None:
    inner = {"error": {"message": "too long", "code": "context_length_exceeded"}}
    document = {"error": {"message": f"x.BadRequestError: {json.dumps(inner)}", "code": "400"}}
    error = language("chat_completions").read_error(400, document)
    assert (error.message, error.code) == ("too long", "context_length_exceeded")
