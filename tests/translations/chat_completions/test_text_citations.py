"""Where the sources of a text are told, and from where their spans count."""

from __future__ import annotations

import json
from typing import Any

from msgspec import Raw

from engine.translations.chat_completions.text_citations import TextCitations
from engine.translations.neutral.events import Cite


def annotations(*spans: tuple[int, int]) -> Raw:
    places: list[Any] = [
        {"url_citation": {"url": "https://a", "start_index": start, "end_index": end}}
        for start, end in spans
    ]
    return Raw(json.dumps([{"type": "file"}, *places]).encode())


def spans(cites: Any) -> list[tuple[int | None, int | None, bool]]:
    assert all(isinstance(each, Cite) and each.candidate == 3 for each in cites)
    return [(each.citation.start, each.citation.end, each.late) for each in cites]


def test_spans_count_from_the_block_that_is_open() -> None:
    citations = TextCitations(3)
    citations.length = 5
    assert list(citations.begin()) == []
    cites = [*citations.read(annotations((6, 8), (1, 2)), is_open=True, is_complete=True)]
    assert spans(cites) == [(1, 3, False), (None, None, False)]


def test_sources_of_a_complete_text_count_from_the_beginning_of_all() -> None:
    cites = [*TextCitations(3).read(annotations((6, 8)), is_open=False, is_complete=True)]
    assert spans(cites) == [(6, 8, True)]


def test_sources_before_the_text_wait_for_it() -> None:
    citations = TextCitations(3)
    assert not [*citations.read(annotations((0, 2)), is_open=False, is_complete=False)]
    assert spans([*citations.begin()]) == [(0, 2, False)]
    assert not [*citations.begin()]
