"""One request for embeddings and its answer, between two languages."""

import json

import pytest

from engine import translations
from engine.translations.neutral.events import BrokenAnswer
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.refusals import LossRules
from engine.values.errors import GatewayError
from engine.values.wildcard import Patterns


def exchange(rules=None, **members):
    """A request of an OpenAI caller for a Gemini upstream."""
    body = json.dumps({"model": "alias", "input": ["a", "b"], **members}).encode()
    translation = translations.translation("embeddings", "batch_embed_contents")
    return translation.request(body, RequestLine(model="alias"), "m", rules or LossRules())


def answer(*vectors):
    return json.dumps({"embeddings": [{"values": vector} for vector in vectors]}).encode()


def test_the_answer_has_the_vectors_in_order():
    document = json.loads(exchange().answer(answer([1, 2], [3, 4])))
    assert [entry["embedding"] for entry in document["data"]] == [[1, 2], [3, 4]]


@pytest.mark.parametrize("vectors", [[], [[1]], [[1], [2], [3]]])
def test_another_number_of_vectors_is_a_broken_answer(vectors):
    with pytest.raises(BrokenAnswer, match=rf"has {len(vectors)} vectors?, not 2"):
        exchange().answer(answer(*vectors))


@pytest.mark.parametrize("body", [b"", b"[]", b'{"embeddings": 3}'])
def test_what_is_no_answer_is_broken(body):
    with pytest.raises(BrokenAnswer):
        exchange().answer(body)


def test_a_field_that_is_not_known_is_refused_by_its_name():
    with pytest.raises(GatewayError) as excinfo:
        exchange(extra=1)
    assert (excinfo.value.status, excinfo.value.param) == (400, "extra")


@pytest.mark.parametrize("rules", [LossRules(lossy=True), LossRules(drop=Patterns(("extra",)))])
def test_a_field_that_may_be_dropped_is_named(rules):
    assert exchange(rules, extra=1).dropped == ["extra"]


def test_an_answer_needs_no_body_of_the_request():
    short = exchange().for_answer()
    assert short.target_request.body == b""
    assert json.loads(short.answer(answer([1], [2])))["model"] == "alias"


def test_a_stream_is_refused():
    stream = exchange().stream()
    for translate in (lambda: stream.event(b"{}"), stream.end):
        with pytest.raises(BrokenAnswer, match="a stream"):
            translate()
    assert (stream.take(), stream.ended) == (b"", False)
