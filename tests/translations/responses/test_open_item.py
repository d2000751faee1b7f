"""One item of a stream, event by event."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.translations.neutral.content import Citation, Media, Text
from engine.translations.neutral.events import BrokenAnswer, Cite, Close, Delta, Event, Open
from engine.translations.responses.answer_fields import TextDelta
from engine.translations.responses.open_item import ITEM_READERS, LATER, OpenItem

CITED = {"type": "url_citation", "url": "https://a", "start_index": 0, "end_index": 1}


def _read(item: OpenItem, kind: str, /, **members: Any) -> list[Event]:
    return [*ITEM_READERS[f"response.{kind}"](item, json.dumps(members).encode())]


def test_citations_that_had_no_event_are_read_at_the_end_of_their_part() -> None:
    item, part = OpenItem("i1"), {"type": "output_text", "text": "ab"}
    events = _read(item, "content_part.added", part={**part, "text": ""})
    events += item.delta(TextDelta(delta="ab"), Text)
    events += _read(item, "output_text.annotation.added", annotation=CITED)
    twice = {**part, "annotations": [CITED, {**CITED, "url": "https://b"}]}
    events += _read(item, "content_part.done", part=twice)
    sources = [Citation(f"https://{name}", "", "", 0, 1) for name in "ab"]
    assert events == [Open(Text()), Delta("ab"), *map(Cite, sources), Close()]


def test_a_part_of_an_unknown_kind_is_not_lost_silently() -> None:
    with pytest.raises(BrokenAnswer, match="content of the kind 'output_audio'"):
        _read(OpenItem("i1"), "content_part.done", part={"type": "output_audio", "data": "AA"})
    assert _read(OpenItem("i1"), "content_part.done", part={"type": "reasoning_text"}) == []


def test_an_image_that_the_vendor_made_has_a_substitute() -> None:
    item = {"type": "image_generation_call", "id": "ig_1", "result": "iVBO"}
    opened, _ = _read(OpenItem("i1"), "output_item.done", item=item)
    assert isinstance(opened, Open)
    assert isinstance(opened.block.substitute, Media)  # type: ignore[attr-defined]


def test_an_item_knows_its_kind() -> None:
    item = OpenItem("i1")
    _read(item, "output_item.added", item={"call_id": "c", "name": "f", "arguments": ""})
    assert (item.kind, item.opened, item.is_done) == ("function_call", True, False)
    text = OpenItem("i1")
    list(text.delta(TextDelta(delta="a"), Text))
    assert (text.kind, list(text.end()), list(text.end())) == ("message", [Close()], [])


def test_later_events_have_readers() -> None:
    assert set(LATER) < set(ITEM_READERS)
