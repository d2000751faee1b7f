"""Annotations of the texts of a stream."""

from __future__ import annotations

from typing import Any

from engine.translations.neutral.content import Citation, Text
from engine.translations.responses.answer_writer import write_part
from engine.translations.responses.cited_texts import CitedTexts

Json = dict[str, Any]


def _add(texts: CitedTexts, text: Text, number: int) -> list[Json]:
    return list(texts.add(text, write_part(text, []), {"content_index": number}))


def _span(members: Json | None) -> tuple[int, int, int, int]:
    assert members is not None
    annotation = members["annotation"]
    place = members["content_index"], members["annotation_index"]
    return *place, annotation["start_index"], annotation["end_index"]


def test_the_citations_of_a_text_come_with_its_end() -> None:
    text = Text(text="abcd", citations=[Citation("https://a"), Citation("https://b", "", "", 1, 2)])
    assert [_span(each) for each in _add(CitedTexts(), text, 3)] == [(3, 0, 0, 4), (3, 1, 1, 2)]


def test_a_late_citation_goes_to_the_text_of_its_span() -> None:
    texts = CitedTexts()
    assert _add(texts, Text(text="abcd"), 0) == _add(texts, Text(text="efgh"), 1) == []
    assert _span(texts.cite(Citation("https://a", start=1, end=3))) == (0, 0, 1, 3)
    assert _span(texts.cite(Citation("https://a", start=5, end=7))) == (1, 0, 1, 3)
    assert _span(texts.cite(Citation("https://a"))) == (1, 1, 0, 4)


def test_a_citation_without_any_text_says_nothing() -> None:
    assert CitedTexts().cite(Citation("https://a")) is None
