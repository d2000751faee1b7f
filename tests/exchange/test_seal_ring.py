"""What a ring of keys seals is opened by its keys, for its purpose, unchanged."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from engine.exchange.seal_ring import SealRing
from tests.support.each import each

KEY, NEW = "first key " * 4, "second key " * 4
RING = SealRing([KEY], "tests")
SEALED = RING.seal(b"content")


@given(st.binary(max_size=300))
def test_what_is_sealed_is_opened(content: bytes) -> None:
    assert RING.open(RING.seal(content)) == content


def test_an_old_key_opens_and_the_new_one_seals() -> None:
    ring = SealRing([NEW, KEY], "tests")
    assert ring.open(SEALED) == b"content"
    assert RING.open(ring.seal(b"x")) is None


def test_another_purpose_opens_nothing() -> None:
    assert SealRing([KEY], "another").open(SEALED) is None


@each("position", range(len(SEALED)))
def test_a_changed_character_opens_nothing(position: int) -> None:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    for character in random.Random(position).sample(alphabet, 8):
        changed = SEALED[:position] + character + SEALED[position + 1 :]
        assert RING.open(changed) == (b"content" if changed == SEALED else None)


@each("text", ["", "AA", "AQ", "AQAA", SEALED + "A", SEALED + "=", SEALED[:-1], "\ud800", "é" * 40])
def test_another_text_opens_nothing(text: str) -> None:
    assert RING.open(text) is None
