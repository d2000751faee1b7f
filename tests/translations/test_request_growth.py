"""What a translation writes is bounded by the size of the caller's request, in every language."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
from msgspec.structs import replace

from engine.translations import language, translation
from engine.translations.neutral.events import BrokenAnswer
from engine.translations.neutral.language import RequestLine, TargetRequest
from engine.translations.neutral.losses import Losses, most_bytes
from engine.translations.neutral.refusals import MAX_TEXTS, LossRules
from engine.translations.neutral.request import ChatRequest
from engine.translations.translation import Translation
from engine.values.errors import GatewayError
from tests.support.each import each

MAX_MEMORY = 20_000_000
OLD_GEMINI = "gemini-2.0-flash"
LONG = "x" * 100_000
REFERENCES = {
    "type": "object",
    "properties": {f"p{number}": {"$ref": "#/$defs/long"} for number in range(9_000)},
    "$defs": {"long": {"type": "string", "description": LONG}},
}
GROUP = {"type": "namespace", "name": LONG, "tools": [{"type": "function", "name": "f"}] * 900}


def chat(**members: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": "Hi"}], **members}


def answer_format(schema: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}


CASES: list[tuple[str, str, str, Any, str]] = [
    (
        *("chat_completions", "generate_content", OLD_GEMINI),
        chat(tools=[{"type": "function", "function": {"name": "f", "parameters": REFERENCES}}]),
        "tools[0].function.parameters",
    ),
    (
        *("chat_completions", "generate_content", OLD_GEMINI),
        chat(response_format=answer_format(REFERENCES)),
        "response_format.json_schema.schema",
    ),
    (
        *("messages", "generate_content", OLD_GEMINI),
        chat(tools=[{"name": "f"}, {"name": "g", "input_schema": REFERENCES}], max_tokens=9),
        "tools[1].input_schema",
    ),
    (
        *("messages", "generate_content", OLD_GEMINI),
        chat(output_config={"format": {"type": "json_schema", "schema": REFERENCES}}),
        "output_config.format.schema",
    ),
    (
        *("responses", "generate_content", OLD_GEMINI),
        {"input": "Hi", "tools": [{"type": "function", "name": "f", "parameters": REFERENCES}]},
        "tools[0].parameters",
    ),
    (
        *("responses", "generate_content", OLD_GEMINI),
        {"input": "Hi", "text": {"format": {"type": "json_schema", "schema": REFERENCES}}},
        "text.format.schema",
    ),
    (
        "responses",
        "messages",
        "claude-opus-4-6",
        {"input": "Hi", "tools": [GROUP]},
        "tools[0].name",
    ),
    (
        *("responses", "chat_completions", "m"),
        {"input": "Hi", "tools": [{"type": "custom", "name": f"{n:x}"} for n in range(14_000)]},
        "tools",
    ),
    ("embeddings", "batch_embed_contents", "m" * 500, {"input": ["a"] * 19_000}, "input"),
    (
        *("batch_embed_contents", "batch_embed_contents", "m" * 500),
        {"requests": [{"content": {"parts": [{"text": "a"}]}}] * 19_000},
        "requests",
    ),
]


def refusal(source: str, target: str, model: str, document: Any) -> tuple[GatewayError, int]:
    """The refusal of a request, and the most memory that was allocated at a time for it."""
    body = json.dumps(document).encode()
    pair = translation(source, target)
    tracemalloc.start()
    try:
        with pytest.raises(GatewayError) as excinfo:
            pair.request(body, RequestLine(model="m"), model, LossRules(lossy=True))
        return excinfo.value, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@each(("source", "target", "model", "document", "place"), CASES)
def test_a_request_that_grows_is_refused_by_its_place_before_it_is_in_memory(
    source: str, target: str, model: str, document: Any, place: str
) -> None:
    error, allocated = refusal(source, target, model, document)
    assert (error.status, error.param) == (400, place)
    assert f"'{place}'" in error.message
    assert allocated < MAX_MEMORY


def test_the_refusal_says_what_grows_and_what_to_do() -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": REFERENCES}}
    document = chat(tools=[tool])
    error, _ = refusal("chat_completions", "generate_content", OLD_GEMINI, document)
    most = most_bytes(len(json.dumps(document)))
    assert error.code == "request_too_complex"
    assert f"over {most} bytes" in error.message
    assert "($ref)" in error.message


@each(
    ("source", "target", "document", "schema_of"),
    [
        (
            *("chat_completions", "generate_content"),
            chat(tools=[{"type": "function", "function": {"name": "f", "parameters": REFERENCES}}]),
            lambda o: o["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"],
        ),
        (
            *("chat_completions", "generate_content"),
            chat(response_format=answer_format(REFERENCES)),
            lambda o: o["generationConfig"]["responseJsonSchema"],
        ),
    ],
)
def test_a_model_that_takes_references_gets_them(
    source: str, target: str, document: Any, schema_of: Callable[[Any], Any]
) -> None:
    body = json.dumps(document).encode()
    pair = translation(source, target)
    written = pair.request(body, RequestLine(), "gemini-2.5-flash", LossRules()).target_request.body
    assert schema_of(json.loads(written)) == REFERENCES


def test_a_language_that_writes_too_much_is_refused() -> None:
    """Languages may come from elsewhere, and encode as they like."""

    def write(request: ChatRequest, model: str, losses: Losses) -> TargetRequest:
        return TargetRequest(b"x" * (most_bytes(request.size) + more), "/")

    target = replace(language("messages"), write_request=write)
    body = json.dumps(chat()).encode()
    for more in (0, 1):
        pair = Translation(language("chat_completions"), target)
        refused = pytest.raises(GatewayError) if more else nullcontext()
        with refused:
            pair.request(body, RequestLine(), "m", LossRules())


def test_too_many_texts_are_refused_before_they_are_read() -> None:
    document = {"input": ["a"] * (MAX_TEXTS + 1)}
    error, allocated = refusal("embeddings", "batch_embed_contents", "m", document)
    assert (error.status, error.code) == (400, "request_too_complex")
    assert allocated < 1_000_000


def test_long_names_of_tools_are_not_repeated_without_bound() -> None:
    """The name is the caller's, how often it is called is not."""
    tool = {"type": "function", "function": {"name": "ü" * 100_000}}
    pair = translation("chat_completions", "messages")
    body = json.dumps(chat(tools=[tool])).encode()
    exchange = pair.request(body, RequestLine(), "claude-opus-4-6", LossRules())
    [name] = exchange.target_request.tool_names

    def answer(calls: int) -> bytes:
        content = [
            {"type": "tool_use", "id": f"c{index}", "name": name, "input": {}}
            for index in range(calls)
        ]
        document = {"type": "message", "content": content, "stop_reason": "tool_use"}
        return json.dumps(document).encode()

    assert len(exchange.answer(answer(40))) > 4_000_000
    with pytest.raises(BrokenAnswer, match="names of tools"):
        exchange.answer(answer(41))
