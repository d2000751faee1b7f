"""Thoughts and reasons to stop of chat completions."""

from __future__ import annotations

import json
from typing import Any

from msgspec import Raw

from engine.translations.chat_completions.answer_fields import (
    STOPS,
    citations_in,
    read_annotations,
    write_finish,
)
from engine.translations.chat_completions.thoughts import (
    Detail,
    read_detail,
    write_detail,
    write_thoughts,
)
from engine.translations.neutral.content import Reasoning, Signature
from engine.translations.neutral.events import Cite, Finish
from engine.translations.neutral.json_members import Members
from tests.support.each import each

Json = dict[str, Any]


def members(**values: Any) -> Members:
    return Members(json.dumps(values).encode())


@each("reason", ["stop", "length", "tool_calls", "content_filter"])
def test_reasons_survive(reason: str) -> None:
    assert write_finish(Finish(stop=STOPS[reason], native=reason)) == {"finish_reason": reason}


def test_what_no_reason_says_stands_beside_it() -> None:
    finish = Finish(stop="stop_sequence", native="stop_sequence", sequence="END")
    assert write_finish(finish) == {
        "finish_reason": "stop",
        "native_finish_reason": "stop_sequence",
        "stop_reason": "END",
    }


def test_an_entry_grows_by_its_fragments() -> None:
    detail = Detail()
    assert detail.add(members(type="reasoning.text", text="a", format=None)) == ("a", 20)
    assert detail.add(members(type="reasoning.text", summary="b")) == ("b", 0)
    assert detail.add(members(signature="s", index=1.0)) == ("", 20)
    assert detail.signature.value == '{"type":"reasoning.text","signature":"s","index":1.0}'


@each(
    "entry",
    [
        {"type": "reasoning.text", "index": 0, "signature": "s", "text": "hm"},
        {"type": "reasoning.summary", "format": "x", "summary": "hm"},
        {"type": "reasoning.encrypted", "data": "d"},
    ],
)
def test_an_entry_returns_as_it_came(entry: Json) -> None:
    detail = Detail()
    text, _ = detail.add(members(**entry))
    result, foreign = write_thoughts([Reasoning(text=text, signature=detail.signature)])
    assert (result, foreign) == ({"reasoning_details": [entry]}, [])


def test_a_sealed_signature_survives() -> None:
    signature = Signature("messages", "s")
    block = read_detail(members(**write_detail(3, "hm", signature)))
    assert (block.text, block.signature) == ("hm", signature)


def test_thoughts_of_one_member_are_one_text() -> None:
    blocks = [
        Reasoning(text=text, signature=Signature("chat_completions", "reasoning")) for text in "ab"
    ]
    assert write_thoughts(blocks) == ({"reasoning": "ab"}, [])


@each("value", ["role", "content", "", "{", "[]", "1", "[" * 100_000])
def test_made_up_signatures_are_another_vendors(value: str) -> None:
    block = Reasoning(text="a", signature=Signature("chat_completions", value))
    assert write_thoughts([block]) == ({}, [block])


def annotations_of(*spans: tuple[int, int]) -> Raw:
    places: list[Any] = [
        {"url_citation": {"url": "https://a", "start_index": start, "end_index": end}}
        for start, end in spans
    ]
    return Raw(json.dumps([{"type": "file"}, *places]).encode())


def test_annotations_with_a_source_are_read() -> None:
    citations = read_annotations(annotations_of((6, 8), (1, 2)))
    assert [(each.url, each.start, each.end) for each in citations] == [
        ("https://a", 6, 8),
        ("https://a", 1, 2),
    ]


@each("odd", [b"null", b"{}", b'"x"', b"7"])
def test_a_member_of_another_form_has_none(odd: bytes) -> None:
    assert read_annotations(Raw(odd)) == []


def test_spans_count_from_the_block_that_is_open() -> None:
    cites = [*citations_in(read_annotations(annotations_of((6, 8), (1, 2))), 5, 3)]
    assert all(isinstance(each, Cite) and each.candidate == 3 for each in cites)
    assert [(each.citation.start, each.citation.end) for each in cites] == [(1, 3), (None, None)]
