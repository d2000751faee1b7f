"""Parameters -> `generationConfig`."""

from __future__ import annotations

import json

from msgspec import Raw

from engine.translations.generate_content.request_writer import write_request
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import (
    ChatRequest,
    OutputFormat,
    Thinking,
    any_object,
)
from engine.values.wildcard import Patterns
from tests.support.each import each
from tests.translations.generate_content.request_writing import (
    FLASH,
    FLASH_3,
    HI,
    LITE,
    LOOK,
    OLD,
    PRO,
    PRO_3,
    PRO_31,
    SCHEMA,
    Json,
    losing,
    write,
)


def test_parameters_keep_the_text_of_their_numbers() -> None:
    request = ChatRequest(
        language="other", model="a", messages=[HI], temperature=Raw(b"0.70"), top_p=Raw(b"0.90")
    )
    body = write_request(request, PRO_3, Losses(Patterns(()))).body
    assert b'"temperature":0.70,"topP":0.90' in body


@each(
    ("members", "config", "expected_losses"),
    [
        ({"max_tokens": 9, "candidates": 2}, {"maxOutputTokens": 9, "candidateCount": 2}, []),
        ({"seed": Raw(b"7"), "top_k": Raw(b"40")}, {"seed": 7, "topK": 40}, []),
        ({"logprobs": True, "top_logprobs": 3}, {"responseLogprobs": True, "logprobs": 3}, []),
        ({"stop": ["a"]}, {"stopSequences": ["a"]}, []),
        ({"stop": list("abcdef")}, {"stopSequences": list("abcde")}, ["stop"]),
        ({"user": "u"}, {}, ["(user)"]),
        ({"verbosity": "low"}, {}, ["verbosity"]),
        ({"verbosity": "medium"}, {}, []),
        ({"parallel_calls": False}, {}, []),
        ({"parallel_calls": True}, {}, []),
        ({"presence_penalty": Raw(b"0"), "frequency_penalty": Raw(b"0.0")}, {}, []),
        ({"presence_penalty": Raw(b"0.5")}, {}, ["presence_penalty"]),
    ],
)
def test_parameters(members: Json, config: Json, expected_losses: list[str]) -> None:
    body, losses = losing(PRO_3, **members)
    assert (body.get("generationConfig", {}), losses) == (config, expected_losses)


def test_penalties_where_the_model_takes_them() -> None:
    body = write(FLASH, presence_penalty=Raw(b"0.5"), frequency_penalty=Raw(b"0"))
    assert body["generationConfig"] == {"presencePenalty": 0.5, "frequencyPenalty": 0}


@each(
    ("model", "output", "expected"),
    [
        (PRO_3, any_object(), {"responseMimeType": "application/json"}),
        (
            FLASH,
            OutputFormat(kind="json_schema", schema=SCHEMA, name="n", strict=True),
            {
                "responseMimeType": "application/json",
                "responseJsonSchema": json.loads(bytes(SCHEMA)),
            },
        ),
        (
            OLD,
            OutputFormat(kind="json_schema", schema=SCHEMA),
            {
                "responseMimeType": "application/json",
                "responseSchema": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}},
            },
        ),
    ],
)
def test_the_form_of_the_answer(model: str, output: OutputFormat, expected: Json) -> None:
    assert write(model, output=output)["generationConfig"] == expected


@each(("model", "expected_losses"), [(OLD, ["output"]), (FLASH, ["output"]), (PRO_3, [])])
def test_a_form_of_the_answer_beside_tools_takes_the_third_generation(
    model: str, expected_losses: list[str]
) -> None:
    body, losses = losing(
        model, output=OutputFormat(kind="json_schema", schema=SCHEMA), tools=[LOOK]
    )
    assert losses == expected_losses
    assert ("generationConfig" in body) == (not expected_losses)


@each(
    ("model", "thinking", "config", "expected_losses"),
    [
        (PRO_3, Thinking(effort="medium"), {"thinkingLevel": "LOW"}, []),
        (PRO_3, Thinking(effort="max"), {"thinkingLevel": "HIGH"}, []),
        (PRO_31, Thinking(effort="medium"), {"thinkingLevel": "MEDIUM"}, []),
        (FLASH_3, Thinking(effort="minimal"), {"thinkingLevel": "MINIMAL"}, []),
        (FLASH_3, Thinking(budget=9000), {"thinkingLevel": "HIGH"}, []),
        (FLASH_3, Thinking(adaptive=True), {}, []),
        (PRO_3, Thinking(off=True), {"thinkingLevel": "LOW"}, ["(thinking)"]),
        (
            FLASH_3,
            Thinking(effort="none", visible=True),
            {"thinkingLevel": "MINIMAL"},
            ["(thinking)"],
        ),
        (FLASH, Thinking(effort="high"), {"thinkingBudget": 8192}, []),
        (FLASH, Thinking(budget=90_000), {"thinkingBudget": 24_576}, []),
        (FLASH, Thinking(off=True), {"thinkingBudget": 0}, []),
        (FLASH, Thinking(effort="none"), {"thinkingBudget": 0}, []),
        (FLASH, Thinking(adaptive=True), {"thinkingBudget": -1}, []),
        (LITE, Thinking(budget=9), {"thinkingBudget": 512}, []),
        (LITE, Thinking(off=True), {"thinkingBudget": 0}, []),
        (PRO, Thinking(off=True), {"thinkingBudget": 128}, ["(thinking)"]),
        (PRO, Thinking(effort="max"), {"thinkingBudget": 32_768}, []),
        (OLD, Thinking(effort="low"), {}, ["(thinking)"]),
        (OLD, Thinking(off=True), {}, []),
        (
            PRO_3,
            Thinking(effort="high", visible=True),
            {"thinkingLevel": "HIGH", "includeThoughts": True},
            [],
        ),
        (PRO_3, Thinking(visible=True), {"includeThoughts": True}, []),
        (PRO_3, Thinking(visible=False), {}, []),
    ],
)
def test_thinking(model: str, thinking: Thinking, config: Json, expected_losses: list[str]) -> None:
    body, losses = losing(model, thinking=thinking)
    thinking_config = body.get("generationConfig", {}).get("thinkingConfig", {})
    assert (thinking_config, losses) == (config, expected_losses)
