"""Blocks of streams that only this language knows."""

from __future__ import annotations

import json

import pytest

from engine.translations.neutral import arguments
from engine.translations.neutral.content import Foreign
from engine.translations.neutral.events import BrokenAnswer
from tests.translations.messages.streams import STOP, arguments_of, begin, blocks_of, delta


def test_a_block_of_this_vendor_is_whole_with_its_deltas() -> None:
    call = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    (block,) = blocks_of(begin(call), arguments_of('{"query":'), arguments_of('"cat"}'), STOP)
    assert isinstance(block, Foreign)
    assert (block.kind, json.loads(bytes(block.raw))) == (
        "server_tool_use",
        {**call, "input": {"query": "cat"}},
    )


def test_texts_of_unknown_deltas_belong_to_their_block() -> None:
    (block,) = blocks_of(
        begin({"type": "compaction", "content": None}),
        delta(type="compaction_delta", content="So "),
        delta(type="compaction_delta", content="far."),
        STOP,
    )
    assert json.loads(bytes(block.raw)) == {"type": "compaction", "content": "So far."}


def test_a_block_that_grows_without_end_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.translations.messages.foreign_block.LARGEST", 50)
    assert arguments.LARGEST > 50
    many = [arguments_of("x" * 20)] * 3
    with pytest.raises(BrokenAnswer, match="server_tool_use that is too large"):
        blocks_of(begin({"type": "server_tool_use"}), *many, STOP)
