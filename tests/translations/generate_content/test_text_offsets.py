"""Offsets in characters and in bytes of UTF-8."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.translations.generate_content import text_offsets
from engine.translations.generate_content.text_offsets import TextOffsets

WORDS = st.text(st.characters(codec="utf-8"), max_size=12)


def offsets_of(pieces: list[str]) -> TextOffsets:
    offsets = TextOffsets()
    for piece in pieces:
        offsets.add(piece)
    return offsets


@given(st.lists(WORDS, max_size=4), st.data())
def test_an_offset_in_bytes_is_that_of_its_character(
    pieces: list[str], data: st.DataObject
) -> None:
    text, offsets = "".join(pieces), offsets_of(pieces)
    index = data.draw(st.integers(0, len(text)))
    size = len(text[:index].encode())
    assert offsets.bytes(index) == size
    assert offsets.characters(size) == index
    assert offsets.length == len(text)


def test_offsets_in_a_long_text_in_many_pieces() -> None:
    pieces = ["aé雪😀 ", "plain ", "ééé"] * 1_000
    text, offsets = "".join(pieces), offsets_of(pieces)
    for index in range(0, len(text), 97):
        size = len(text[:index].encode())
        assert (offsets.bytes(index), offsets.characters(size)) == (size, index)


def test_an_offset_outside_the_text_is_none() -> None:
    offsets = offsets_of(["aé"])
    assert [offsets.characters(3), offsets.characters(4), offsets.characters(-1)] == [2, None, None]
    assert [offsets.bytes(2), offsets.bytes(3), offsets.bytes(-1)] == [3, None, None]


def test_behind_too_many_changes_of_width_nothing_is_known() -> None:
    most = text_offsets.MOST
    offsets = offsets_of(["aé" * most])
    assert offsets.characters(3 * (most // 2 - 1)) == most - 2
    assert offsets.bytes(most - 2) == 3 * (most // 2 - 1)
    assert offsets.characters(3 * most) is None
    assert offsets.bytes(2 * most) is None


def test_a_long_text_of_one_width_is_one_run() -> None:
    offsets = offsets_of(["雪" * 1_000_000, "雪"])
    assert offsets.bytes(900_001) == 2_700_003
    assert offsets.characters(2_700_003) == 900_001
