"""Thoughts and citations of responses."""

from __future__ import annotations

from msgspec import json

from engine.translations.neutral.answer_json import TextPiece
from engine.translations.neutral.content import Citation, Signature
from engine.translations.responses.answer_fields import (
    ANNOTATIONS,
    read_citations,
    read_signature,
    signed_members,
    thoughts,
    write_annotation,
)
from tests.support.each import each


@each(
    ("item_id", "expected"),
    [
        ("rs_1", {"id": "rs_1", "encrypted_content": "gAAA"}),
        ("", {"encrypted_content": "gAAA"}),
    ],
)
def test_a_signature_is_the_encrypted_content_with_the_id(
    item_id: str, expected: dict[str, str]
) -> None:
    signature = read_signature("gAAA", item_id)
    assert signature is not None
    assert signed_members(signature) == expected


def test_sealed_signatures_are_those_of_other_vendors() -> None:
    assert read_signature("modelway:messages:s 1", "rs_1") == Signature("messages", "s 1")


def test_no_signature() -> None:
    assert read_signature("", "rs_1") is None


def pieces(texts: list[str]) -> list[TextPiece]:
    return [TextPiece(text) for text in texts]


@each(
    ("summary", "content", "text"),
    [(["a", "b"], ["c"], "a\n\nb"), ([], ["c", "d"], "cd"), ([], [], "")],
)
def test_thoughts(summary: list[str], content: list[str], text: str) -> None:
    assert thoughts(pieces(summary), pieces(content)) == text


def test_citations_survive() -> None:
    citation = Citation("https://a", "A", start=1, end=2)
    annotations = [write_annotation(citation, 9), {"type": "file_citation"}]
    assert read_citations(ANNOTATIONS.read(json.encode(annotations))) == [citation]
