"""Requests for a summary, and their answers, in one piece and as a stream."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine import translations
from engine.translations.neutral.answer import collect
from engine.translations.neutral.content import Reasoning, Refusal, Text, ToolCall
from engine.translations.neutral.events import (
    BrokenAnswer,
    Close,
    Delta,
    End,
    Event,
    Finish,
    Open,
    Start,
)
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.refusals import LossRules
from engine.translations.neutral.request import ChatRequest, ToolChoice
from engine.translations.responses import LANGUAGE
from engine.translations.responses.compaction import MAX_TOKENS, PROMPT
from engine.values.errors import GatewayError
from engine.values.usage import Usage
from tests.support.each import each
from tests.support.paths import ROOT

Json = dict[str, Any]

TRIGGER = {"type": "compaction_trigger", "id": "ct_1"}
USER = {"role": "user", "content": "hi"}
CALLS = [
    {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c", "output": "seen"},
]
TOOL = {"type": "function", "name": "look", "parameters": {"type": "object"}, "strict": False}
LINE = RequestLine(id="req_1", time=5, seal=lambda summary: f"sealed({summary})")
COMPACTS = RequestLine(id="req_1", time=5, seal=LINE.seal, compacts=True)


def read(line: RequestLine = LINE, **members: Any) -> ChatRequest:
    body = {"model": "m", "input": [USER, TRIGGER], **members}
    return LANGUAGE.read_request(json.dumps(body).encode(), line)


def written(target: str, model: str, line: RequestLine = LINE, **members: Any) -> Json:
    """The body of the request for a target."""
    translation = translations.translation("responses", target)
    assert isinstance(translation, translations.Translation)
    body = {"model": "m", "input": [USER, *CALLS, TRIGGER], "tools": [TOOL], **members}
    exchange = translation.request(json.dumps(body).encode(), line, model, LossRules())
    document: Json = json.loads(exchange.target_request.body)
    return document


def events(*blocks: tuple[Any, str], stop: Any = "end") -> list[Event]:
    parts: list[Event] = [Start(id="msg_1", model="claude", created=7)]
    for block, text in blocks:
        parts += [Open(block), *([Delta(text)] if text else []), Close()]
    finish = Finish(stop=stop)
    return [*parts, End(finishes={0: finish}, usage=Usage(input=9, output=4))]


def whole(request: ChatRequest, *blocks: tuple[Any, str], stop: Any = "end") -> Json:
    document: Json = json.loads(LANGUAGE.write_answer(collect(events(*blocks, stop=stop)), request))
    return document


def streamed(request: ChatRequest, *blocks: tuple[Any, str], stop: Any = "end") -> list[Json]:
    writer = LANGUAGE.stream_writer(request)
    text = b"".join(writer.write(event) for event in events(*blocks, stop=stop)).decode()
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]


def summary() -> list[tuple[Any, str]]:
    """The blocks of an answer with thoughts, two texts and a call that was not wanted."""
    call = ToolCall(id="c", name="look")
    return [(Reasoning(), "hm"), (Text(), "All "), (Text(), "done."), (call, "{}")]


def test_the_last_item_asks_for_a_summary_without_tools() -> None:
    request = read(
        tools=[TOOL],
        tool_choice="required",
        text={"format": {"type": "json_object"}},
        max_output_tokens=500_000,
    )
    assert [message.role for message in request.messages] == ["user", "user"]
    [prompt] = request.messages[-1].blocks
    assert isinstance(prompt, Text)
    assert prompt.text == PROMPT
    assert (request.tool_choice, request.output) == (ToolChoice(mode="none"), None)
    assert request.max_tokens == MAX_TOKENS
    assert read(max_output_tokens=100).max_tokens == 100


def test_in_the_middle_it_asks_for_nothing() -> None:
    assert read(input=[TRIGGER, USER]).compaction is None


@each(
    ("target", "model"),
    [
        ("messages", "claude-sonnet-5"),
        ("generate_content", "gemini-2.5-pro"),
        ("chat_completions", "gpt-4o"),
        ("converse", "anthropic.claude-sonnet-5-v1:0"),
    ],
)
def test_every_target_gets_the_conversation_its_tools_and_the_prompt(
    target: str, model: str
) -> None:
    text = json.dumps(written(target, model, reasoning={"effort": "high"}))
    assert text.count(json.dumps(PROMPT)) == 1
    assert '"look"' in text
    assert "seen" in text
    forbids = ('"tool_choice": {"type": "none"}', '"mode": "NONE"', '"tool_choice": "none"')
    assert target == "converse" or any(each in text for each in forbids)


def test_without_a_key_it_is_refused_and_says_what_to_configure() -> None:
    with pytest.raises(GatewayError, match=r"'input\[3\]'.*objects\.key") as refused:
        written("messages", "claude-sonnet-5", RequestLine())
    assert refused.value.param == "input[3]"


def test_the_answer_is_the_sealed_summary_alone() -> None:
    answer = whole(read(), *summary(), stop="tool_calls")
    [item] = answer["output"]
    assert (item["type"], item["encrypted_content"]) == ("compaction", "sealed(All done.)")
    assert (answer["status"], answer["usage"]["total_tokens"]) == ("completed", 13)


def test_the_stream_ends_with_the_item_that_it_began() -> None:
    documents = streamed(read(stream=True), *summary(), stop="tool_calls")
    assert [document["type"].removeprefix("response.") for document in documents] == [
        *("created", "in_progress", "output_item.added"),
        *("compaction.compacting", "compaction.compacting", "output_item.done", "completed"),
    ]
    added, done = documents[2], documents[-2]
    assert (added["item"]["id"], added["item"]["encrypted_content"]) == (done["item"]["id"], "")
    assert documents[3]["item_id"] == done["item"]["id"]
    assert [document["sequence_number"] for document in documents] == [*range(7)]
    answer = whole(read(), *summary(), stop="tool_calls")
    assert documents[-1]["response"] == answer


@each("stop", ["length", "filter"])
def test_a_summary_that_was_cut_is_none(stop: str) -> None:
    for answer in (
        whole(read(), *summary(), stop=stop),
        streamed(read(stream=True), *summary(), stop=stop)[-1]["response"],
    ):
        assert (answer["status"], answer["output"]) == ("incomplete", [])
    with pytest.raises(BrokenAnswer, match="not completed"):
        whole(read(COMPACTS), *summary(), stop=stop)


@each("block", [(Text(), " \n"), (Refusal(), "No."), (ToolCall(id="c", name="look"), "{}")])
def test_an_answer_without_a_summary_is_the_targets_failure(block: tuple[Any, str]) -> None:
    for write in (whole, streamed):
        with pytest.raises(BrokenAnswer, match="no summary"):
            write(read(), block)


def test_the_operation_answers_with_the_users_messages_before_the_summary() -> None:
    items = [{"type": "message", "role": "user", "content": "one", "id": "msg_x"}, *CALLS, USER]
    answer = whole(read(COMPACTS, input=items), *summary())
    assert answer["object"] == "response.compaction"
    assert [item.get("role") for item in answer["output"]] == ["user", "user", None]
    assert answer["output"][0]["content"] == [{"type": "input_text", "text": "one"}]
    assert len({item["id"] for item in answer["output"]}) == 3
    [message, _] = whole(read(COMPACTS, input="one"), *summary())["output"]
    assert message["content"] == [{"type": "input_text", "text": "one"}]


def test_the_page_shows_the_prompt() -> None:
    page = (ROOT / "docs/reference/translation.md").read_text("utf-8")
    assert PROMPT in " ".join(page.split())
