"""Which sources a text cites, and from where their spans count."""

from __future__ import annotations

import json
from typing import Any

from msgspec import Raw

from engine.translations.chat_completions.text_citations import citations_in, read_annotations
from engine.translations.neutral.events import Cite
from tests.support.each import each


def annotations(*spans: tuple[int, int]) -> Raw:
    places: list[Any] = [
        {"url_citation": {"url": "https://a", "start_index": start, "end_index": end}}
        for start, end in spans
    ]
    return Raw(json.dumps([{"type": "file"}, *places]).encode())


def test_annotations_with_a_source_are_read() -> None:
    citations = read_annotations(annotations((6, 8), (1, 2)))
    assert [(each.url, each.start, each.end) for each in citations] == [
        ("https://a", 6, 8),
        ("https://a", 1, 2),
    ]


@each("odd", [b"null", b"{}", b'"x"', b"7"])
def test_a_member_of_another_form_has_none(odd: bytes) -> None:
    assert read_annotations(Raw(odd)) == []


def test_spans_count_from_the_block_that_is_open() -> None:
    cites = [*citations_in(read_annotations(annotations((6, 8), (1, 2))), 5, 3)]
    assert all(isinstance(each, Cite) and each.candidate == 3 for each in cites)
    assert [(each.citation.start, each.citation.end) for each in cites] == [(1, 3), (None, None)]
