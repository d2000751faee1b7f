"""Converse requests as a whole: their path and the vendor's own serialization."""

from __future__ import annotations

import json

import pytest

from engine.translations import languages, target_language
from engine.translations.language import Language, RequestLine
from engine.translations.neutral.content import Text, ToolCall, ToolResult
from engine.translations.neutral.request import Message
from engine.translations.refusals import LossRules
from engine.translations.translation import Translation
from tests.support import bedrock
from tests.support.each import each
from tests.support.translations import NEVER_DROPPED
from tests.translations.converse.writing import (
    CLAUDE,
    CLAUDE_4_1,
    HI,
    LLAMA,
    NOVA,
    assistant,
    user,
    written,
)

PATHS = [
    (CLAUDE, "us.anthropic.claude-sonnet-4-5-20250929-v1%3A0"),
    (
        "arn:aws:bedrock:us-east-1:123456789012:inference-profile/abc",
        "arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Fabc",
    ),
]


@each(("model", "encoded"), PATHS)
def test_the_path_names_the_model_percent_encoded(model: str, encoded: str) -> None:
    assert written(model).request.path == f"/model/{encoded}/converse"
    assert written(model, stream=True).request.path == f"/model/{encoded}/converse-stream"


@pytest.mark.parametrize("model", [CLAUDE, NOVA, LLAMA])
@pytest.mark.parametrize("source", languages(), ids=lambda each: each.name)
def test_every_feature_is_written_as_the_vendors_sdk_does(source: Language, model: str) -> None:
    translation = Translation(source, target_language("converse"))
    for feature in source.features.features:
        if feature.name in NEVER_DROPPED:
            continue
        body, line = source.features.request(feature, model), RequestLine(model=model)
        exchange = translation.request(body, line, model, LossRules(lossy=True))
        target_request = exchange.target_request
        streams = exchange.request.stream
        assert bedrock.problems(model, target_request.body, stream=streams) == [], feature.name
        sdk = bedrock.serialized(model, target_request.body, stream=streams)
        assert (target_request.path, json.loads(target_request.body)) == sdk, feature.name


def test_points_of_the_cache_are_four_in_all() -> None:
    blocks = [Text(text=str(number), cache="5m") for number in range(4)]
    request = written(CLAUDE, user(*blocks), system=[Text(text="a", cache="1h")])
    assert request.body["system"] == [{"text": "a"}]
    assert sum("cachePoint" in block for block in request.content) == 4


def roles(body: dict[str, list[dict[str, str]]]) -> list[str]:
    return [message["role"] for message in body["messages"]]


def system(text: str) -> Message:
    return Message(role="system", blocks=[Text(text=text)], place="s")


def test_instructions_stand_above_the_conversation() -> None:
    request = written(NOVA, HI, system("b"), HI, system=[Text(text="a")])
    assert request.body["system"] == [{"text": "a"}, {"text": "b"}]
    assert roles(request.body) == ["user"]
    assert len(request.content) == 2


def test_neighbours_of_one_role_are_one_turn() -> None:
    answer = assistant(Text(text="x"))
    assert roles(written(NOVA, HI, HI, answer, answer, HI).body) == ["user", "assistant", "user"]


def test_results_come_first_in_their_turn() -> None:
    call = assistant(ToolCall(id="t", name="f"))
    result = ToolResult(id="t", content=[Text(text="x")])
    content = written(NOVA, HI, call, user(Text(text="a"), result)).body["messages"][2]["content"]
    assert [next(iter(block)) for block in content] == ["toolResult", "text"]


def test_only_some_models_continue_their_own_turn() -> None:
    turns = (HI, assistant(Text(text="I think ")))
    request = written(CLAUDE_4_1, *turns)
    assert request.body["messages"][1]["content"] == [{"text": "I think"}]
    request = written(NOVA, *turns)
    assert request.lost == {"messages[1]": "the model does not continue an assistant's turn"}
    assert roles(request.body) == ["user"]


def test_a_conversation_begins_with_the_users_turn() -> None:
    request = written(NOVA, assistant(Text(text="x")), HI)
    assert request.lost == {"messages[1]": "a conversation begins with the user's turn"}
    assert roles(request.body) == ["user"]


def test_instructions_behind_a_models_turn_are_lost() -> None:
    request = written(CLAUDE_4_1, HI, assistant(Text(text="x")), system("y"))
    assert request.lost == {"s": "instructions cannot follow an assistant's turn"}


def test_a_request_of_which_nothing_remains_is_refused() -> None:
    blank = user(Text(text=" "))
    assert written(NOVA, blank).remainder_error is not None
    assert written(NOVA, HI, assistant(Text(text="x")), blank).remainder_error is not None
    assert written(NOVA, HI).remainder_error is None


def test_a_speaker_has_no_name() -> None:
    named = Message(role="user", blocks=[Text(text="a")], name="Ann", place="m")
    assert written(NOVA, named).hints == {"m.name"}
