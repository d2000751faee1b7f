"""Models and the first content of a stream in the OpenAI dialect."""

import pytest

from engine import dialects
from tests.support.dialects import CARDS, listed

OPENAI = dialects.get("openai")


def delta(**members):
    return {"choices": [{"index": 0, "delta": members, "finish_reason": None}]}


@pytest.mark.parametrize(
    "document",
    [
        delta(role="assistant"),
        delta(role="assistant", content=""),
        delta(),
        {"choices": [{"delta": None}]},
        {"choices": []},
        {"choices": [{"delta": {"content": ""}, "finish_reason": "null"}]},
        {"type": "response.created"},
        {"type": "response.output_item.added"},
    ],
)
def test_an_event_that_begins_a_stream_has_no_content(document):
    assert not OPENAI.has_content(document)


@pytest.mark.parametrize(
    "document",
    [
        delta(content="Hi"),
        delta(refusal="No"),
        delta(tool_calls=[{"index": 0}]),
        {"choices": [{"delta": {}, "finish_reason": "stop"}]},
        {"choices": [{"text": "Hi"}]},
        {"type": "response.output_text.delta"},
        {"usage": {}},
        "[DONE]",
        None,
    ],
)
def test_everything_else_has(document):
    assert OPENAI.has_content(document)


def test_a_model_is_shown_as_in_the_list():
    assert OPENAI.model(CARDS[1]) == listed("openai")["data"][1]


def test_openai_lists_every_model_on_one_page():
    document = listed("openai")
    assert (document["object"], len(document["data"])) == ("list", 60)
    assert document["data"][1] == {
        "id": "org/m1:x",
        "object": "model",
        "created": 1_700_000_001,
        "owned_by": "me",
    }


@pytest.mark.parametrize(("reason", "expected"), [("stop", True), ("null", False), (None, False)])
def test_a_chat_ends_with_a_reason_that_says_one(reason, expected):
    chunk = {"choices": [{"delta": {"content": "a"}, "finish_reason": reason}]}
    assert dialects.get("openai").ends([chunk]) is expected


@pytest.mark.parametrize("kind", ["response.completed", "response.done"])
def test_the_last_event_of_a_response_ends_its_stream(kind):
    ends = dialects.get("openai").ends
    documents = [{"type": "response.output_text.delta", "delta": "hi"}]
    assert ends(documents) is False
    assert ends([*documents, {"type": kind}]) is True
