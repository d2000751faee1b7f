"""Answers of models as results."""

import json
from types import SimpleNamespace

from engine.mcp.models.results import model_result
from engine.mcp.protocol.results import Answer
from tests.support.each import each

JSON = [("content-type", "application/json")]


def result(kind, document):
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return model_result(SimpleNamespace(name=kind), Answer(200, JSON, body))


@each(
    "kind, document, text",
    [
        ("chat", {"choices": [{"message": {"content": "a"}}]}, "a"),
        ("chat", {"choices": [{"message": {"content": None, "refusal": "no"}}]}, "no"),
        ("chat", {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab"),
        ("transcribe", {"text": "a"}, "a"),
        ("chat", {"choices": 1}, '{"choices": 1}'),
        ("chat", b"[1]", "[1]"),
        ("chat", b"{", "{"),
    ],
)
def test_the_text_of_an_answer(kind, document, text):
    assert result(kind, document).content[0]["text"] == text


def test_images_are_content_or_links():
    document = {"output_format": "webp", "data": [{"b64_json": "aGk="}, {"url": "https://x/y"}]}
    image, link = result("generate_image", document).content
    assert image == {"type": "image", "data": "aGk=", "mimeType": "image/webp"}
    assert link["uri"] == "https://x/y"
