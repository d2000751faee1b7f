"""Answers in Protocol Buffers' JSON, whose members may have their names in snake case."""

import json

import pytest

from engine.translations.generate_content.answer_fields import documented
from engine.translations.neutral.json_members import WrongType

SNAKE = {
    "candidates": [
        {
            "finish_reason": "STOP",
            "content": {"parts": [{"thought_signature": "s", "text": "finish_reason"}]},
        }
    ],
    "usage_metadata": {"prompt_token_count": 3},
}


def test_members_get_their_documented_names():
    assert json.loads(documented(json.dumps(SNAKE).encode())) == {
        "candidates": [
            {
                "finishReason": "STOP",
                "content": {"parts": [{"thoughtSignature": "s", "text": "finish_reason"}]},
            }
        ],
        "usageMetadata": {"prompt_token_count": 3},
    }


@pytest.mark.parametrize(
    "text", [b'{"finishReason": 1.0}', b'{"text": "a_b"}', b'{"args": {"my_name": 1}}', b"[ 1 ]"]
)
def test_other_answers_keep_their_text(text):
    assert documented(text) is text


def test_arguments_of_a_call_keep_their_names():
    call = {"functionCall": {"name": "f", "args": {"finish_reason": 1}}, "thought_signature": "s"}
    answer = {"candidates": [{"content": {"parts": [call]}}]}
    (part,) = json.loads(documented(json.dumps(answer).encode()))["candidates"][0]["content"][
        "parts"
    ]
    assert part["functionCall"]["args"] == {"finish_reason": 1}


def test_what_is_no_object_is_refused():
    with pytest.raises(WrongType):
        documented(b'{"finish_reason": ')
