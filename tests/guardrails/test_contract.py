"""What a guard is asked and answers."""

import json

import pytest

from engine.config.schema_check import Validator
from engine.guardrails.contract import (
    DOCUMENT,
    InvalidVerdict,
    TextPart,
    Verdict,
    Window,
    question,
    read_verdict,
)
from engine.values.caller import Caller
from tests.support import yaml_text
from tests.support.exchanges import new_exchange
from tests.support.loop_turns import loop_turns

PARTS = [TextPart("/messages/0/content", "Hi"), TextPart("/messages/1/content", "long", 20)]


def valid_question(*arguments):
    """The JSON of a question, which is as the document says."""
    document = yaml_text.load(DOCUMENT.read_text("utf-8"))
    schema = {"$ref": "#/components/schemas/Question", "components": document["components"]}
    value = json.loads(question(*arguments))
    assert Validator(schema).accepts(value)
    return value


def test_a_question_is_as_the_document_says():
    exchange = new_exchange(operation="openai.chat", model="gpt")
    exchange.caller = Caller("ada", team="search")
    asked = valid_question(exchange, "response", PARTS, Window(2, last=True))
    assert asked["caller"] == {"name": "ada", "team": "search"}
    assert asked["window"] == {"number": 2, "last": True}
    assert asked["texts"] == [
        {"pointer": "/messages/0/content", "text": "Hi"},
        {"pointer": "/messages/1/content", "text": "long", "offset": 20},
    ]


def test_a_question_of_nobody_about_a_text_that_is_no_unicode_can_be_sent():
    asked = valid_question(new_exchange(), "request", [TextPart("/input", "\ud800x")], None)
    assert asked["texts"][0]["text"].endswith("x")
    assert asked["caller"] == {"name": "", "team": ""}


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ({"action": "pass"}, Verdict("pass")),
        ({"action": "block", "reason": "r", "message": "m"}, Verdict("block", "r", "m")),
        (
            {"action": "redact", "texts": [{"pointer": "/messages/0/content", "text": "X"}]},
            Verdict("redact", texts=[TextPart("/messages/0/content", "X")]),
        ),
    ],
)
def test_a_verdict_is_read(answer, verdict):
    read = read_verdict(json.dumps(answer).encode(), PARTS)
    assert read._replace(texts=tuple(read.texts)) == verdict._replace(texts=tuple(verdict.texts))


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"<html>",
        b"[]",
        b"{}",
        b'{"action": "allow"}',
        b'{"action": "redact"}',
        b'{"action": "redact", "texts": []}',
        b'{"action": "redact", "texts": [{"pointer": "/other", "text": "X"}]}',
        b'{"action": "redact", "texts": [{"pointer": "/messages/1/content", "text": "X"}]}',
        b'{"action": "pass", "reason": 5}',
    ],
)
def test_an_answer_that_is_not_as_the_document_says_is_refused(answer):
    with pytest.raises(InvalidVerdict, match="its answer"):
        read_verdict(answer, PARTS)


def test_the_loop_turns_between_the_texts_of_a_question_and_of_its_verdict():
    parts = [TextPart(f"/input/{number}", "a") for number in range(20)]
    assert loop_turns(lambda: question(new_exchange(), "request", parts, None)) >= 20
    assert loop_turns(lambda: read_verdict(b'{"action":"pass"}', parts)) >= 20
    texts = [{"pointer": part.pointer, "text": "b"} for part in parts]
    verdict = json.dumps({"action": "redact", "texts": texts}).encode()
    assert loop_turns(lambda: read_verdict(verdict, parts)) >= 60
