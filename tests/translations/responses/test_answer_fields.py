"""Thoughts and citations of responses."""

from __future__ import annotations

import json
from typing import Any

from engine.translations.neutral.content import Citation, Signature
from engine.translations.neutral.members import Members
from engine.translations.responses.answer_fields import (
    encrypted_content,
    read_citations,
    read_signature,
    read_thoughts,
    signed_members,
    write_annotation,
)
from tests.support.each import each


def members(**values: Any) -> Members:
    return Members(json.dumps(values).encode())


@each(
    ("item_id", "written"),
    [
        ("rs_1", {"id": "rs_1", "encrypted_content": "gAAA"}),
        ("", {"encrypted_content": "gAAA"}),
    ],
)
def test_a_signature_is_the_encrypted_content_with_the_id(
    item_id: str, written: dict[str, str]
) -> None:
    signature = read_signature(members(encrypted_content="gAAA"), item_id)
    assert signature is not None
    assert signed_members(signature) == written
    assert encrypted_content(signature) == "gAAA"


def test_signatures_of_other_vendors_are_sealed() -> None:
    signature = Signature("messages", "s 1")
    sealed = encrypted_content(signature)
    assert sealed == "modelway:messages:s 1"
    assert read_signature(members(encrypted_content=sealed), "rs_1") == signature


@each("content", [None, ""])
def test_no_signature(content: str | None) -> None:
    assert read_signature(members(encrypted_content=content), "rs_1") is None


@each(
    ("item", "text"),
    [
        ({"summary": [{"text": "a"}, {"text": "b"}], "content": [{"text": "c"}]}, "a\n\nb"),
        ({"summary": [], "content": [{"text": "c"}, {"text": "d"}]}, "cd"),
        ({"summary": []}, ""),
    ],
)
def test_thoughts(item: dict[str, Any], text: str) -> None:
    assert read_thoughts(members(**item)) == text


def test_citations_survive() -> None:
    citation = Citation("https://a", "A", start=1, end=2)
    annotations = [write_annotation(citation, 9), {"type": "file_citation"}]
    assert read_citations(members(annotations=annotations)) == [citation]
