"""Usage in the messages of Gemini's Live API."""

import json

import pytest

from engine.dialects.gemini.live import socket_usage

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
