"""`generationConfig` -> parameters."""

from __future__ import annotations

from msgspec import Raw

from engine.translations.neutral.request import (
    OutputFormat,
    Thinking,
    any_object,
)
from tests.support.each import each
from tests.translations.generate_content.request_reading import Json, read


@each(
    ("config", "output"),
    [
        ({"responseMimeType": "text/plain"}, None),
        ({"responseMimeType": "application/json"}, any_object()),
        (
            {"responseMimeType": "application/json", "responseJsonSchema": {"type": "object"}},
            OutputFormat(kind="json_schema", schema=Raw(b'{"type": "object"}')),
        ),
        (
            {"response_mime_type": "application/json", "response_schema": {"type": "STRING"}},
            OutputFormat(kind="json_schema", schema=Raw(b'{"type":"string"}')),
        ),
    ],
)
def test_the_form_of_the_answer(config: Json, output: OutputFormat | None) -> None:
    request = read({"contents": [], "generationConfig": config})
    assert (request.output, request.unread) == (output, [])


def test_a_word_of_an_enumeration_is_not_carried() -> None:
    config = {
        "responseMimeType": "text/x.enum",
        "responseSchema": {"type": "STRING", "enum": ["a"]},
    }
    request = read({"contents": [], "generationConfig": config})
    assert (request.output, request.unread) == (None, ["generationConfig.responseMimeType"])


@each(
    ("config", "thinking"),
    [
        ({"thinkingBudget": 0}, Thinking(off=True, visible=False)),
        ({"thinkingBudget": -1}, Thinking(adaptive=True, visible=False)),
        ({"thinkingBudget": 512, "includeThoughts": True}, Thinking(budget=512, visible=True)),
        (
            {"thinkingLevel": "HIGH", "includeThoughts": False},
            Thinking(effort="high", visible=False),
        ),
        ({"thinking_level": "low"}, Thinking(effort="low", visible=False)),
        ({"thinkingLevel": "THINKING_LEVEL_UNSPECIFIED"}, Thinking(visible=False)),
        ({}, Thinking(visible=False)),
    ],
)
def test_thinking(config: Json, thinking: Thinking) -> None:
    request = read({"contents": [], "generationConfig": {"thinkingConfig": config}})
    assert request.thinking == thinking
