"""Vectors as lists of numbers and as base64 strings."""

import base64
import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from engine.translations.embeddings.language import as_base64, as_numbers
from engine.translations.neutral.json_members import WrongType

BROKEN = (b'"*"', b'"AAA"', b"3", b'["a"]', b"[1", b"{}")


def packed(*numbers):
    return b'"%b"' % base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers))


def test_a_string_becomes_its_numbers():
    assert json.loads(bytes(as_numbers(Raw(packed(0.5, -2.0)), "v"))) == [0.5, -2.0]


def test_numbers_become_a_string():
    assert bytes(as_base64(Raw(b"[0.5, -2]"), "v")) == packed(0.5, -2.0)


@pytest.mark.parametrize("text", [b"[0.10, 1e-9]", b"[]"])
def test_a_list_keeps_its_text_as_numbers(text):
    assert bytes(as_numbers(Raw(text), "v")) == text


def test_a_string_keeps_its_text_as_base64():
    assert bytes(as_base64(Raw(packed(0.5)), "v")) == packed(0.5)


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False)))
def test_numbers_of_single_precision_survive_both_ways(numbers):
    text = Raw(json.dumps(numbers).encode())
    assert json.loads(bytes(as_numbers(as_base64(text, "v"), "v"))) == numbers


@pytest.mark.parametrize("text", BROKEN)
def test_what_is_no_vector_is_refused_with_its_place(text):
    for convert in (as_numbers, as_base64):
        with pytest.raises(WrongType, match="data") as excinfo:
            convert(Raw(text), "data[3].embedding")
        assert excinfo.value.place == "data[3].embedding"
