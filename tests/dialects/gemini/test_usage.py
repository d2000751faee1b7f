"""Usage in answers of the Gemini dialect."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.dialects.gemini.usage import METER, socket_usage, usage_of
from tests.support.each import each

REPORT = {
    "serverContent": {"turnComplete": True},
    "usageMetadata": {
        "promptTokenCount": 70,
        "responseTokenCount": 50,
        "totalTokenCount": 120,
        "promptTokensDetails": [
            {"modality": "TEXT", "tokenCount": 10},
            {"modality": "AUDIO", "tokenCount": 60},
        ],
        "responseTokensDetails": [{"modality": "AUDIO", "tokenCount": 50}],
    },
}


def counts(**members: Any) -> dict[str, Any]:
    return {"usageMetadata": members}


@each(
    ("metadata", "expected"),
    [
        ({"promptTokenCount": 7, "candidatesTokenCount": 5, "totalTokenCount": 12}, (7, 5)),
        # Thoughts are beside the answer, unless the total has no room for them.
        ({"promptTokenCount": 7, "candidatesTokenCount": 5, "thoughtsTokenCount": 3}, (7, 8)),
        (
            {
                "promptTokenCount": 7,
                "candidatesTokenCount": 5,
                "thoughtsTokenCount": 3,
                "totalTokenCount": 12,
            },
            (7, 5),
        ),
        ({"promptTokenCount": 7, "toolUsePromptTokenCount": 2, "responseTokenCount": 1}, (9, 1)),
        ({"candidatesTokenCount": 5, "totalTokenCount": 12}, (7, 5)),
        ({"prompt_token_count": 7, "candidates_token_count": 5}, (7, 5)),
    ],
)
def test_counts(metadata: dict[str, Any], expected: tuple[int, int]) -> None:
    usage = usage_of(counts(**metadata))
    assert usage is not None
    assert (usage.input, usage.output) == expected


@each("document", [{}, counts(), [], "x", {"usageMetadata": 5}])
def test_no_counts_are_no_usage(document: Any) -> None:
    assert usage_of(document) is None


def test_the_last_value_of_each_count_is_that_of_a_stream() -> None:
    tally = METER.tally()
    tally.take(counts(promptTokenCount=7, candidatesTokenCount=1))
    tally.take(counts(candidatesTokenCount=5))
    usage = tally.usage()
    assert usage is not None
    assert (usage.input, usage.output) == (7, 5)


def test_the_tokens_of_a_turn_are_counted_by_modality():
    usage = socket_usage(json.dumps(REPORT).encode())
    assert usage is not None
    assert (usage.input, usage.output) == (70, 50)
    assert (usage.audio_input, usage.audio_output) == (60, 50)


@pytest.mark.parametrize(
    "message",
    [
        b'{"setupComplete": {}}',
        b'{"usageMetadata"',
        b'["usageMetadata"]',
        b'{"text": "\\"usageMetadata\\""}',
        b'{"usageMetadata": {"promptTokenCount": 1}}' + b" " * 1_000_000,
    ],
)
def test_other_messages_report_nothing(message):
    assert socket_usage(message) is None
