"""The features of the languages of embeddings: carried, or refused by name."""

from __future__ import annotations

import base64
import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from engine import translations
from engine.translations.embeddings.language import as_base64, as_numbers
from engine.translations.embeddings.languages import embedding_languages
from engine.translations.neutral.json_members import WrongType
from engine.translations.neutral.language import Feature, RequestLine
from engine.translations.neutral.refusals import LossRules
from engine.values.errors import GatewayError
from tests.support.each import each

LINE = RequestLine(model="alias")


_HINTS = {"user", "taskType", "title"}


def refused_features(caller: str, target: str) -> list[str]:
    """The names of the features of a caller's language that a target cannot be asked for."""
    translation = translations.translation(caller, target)
    features = translation.source.features
    names = []
    for feature in (Feature("", "", {}), *features.features):
        try:
            exchange = translation.request(
                features.request(feature, "alias"), LINE, "m", LossRules()
            )
            assert {each.rpartition(".")[2] for each in exchange.dropped} <= _HINTS
        except GatewayError as error:
            names.append(feature.name if error.param else f"{feature.name}, without its place")
    return names


@each(
    ("caller", "target", "names"),
    [
        ("embeddings", "batch_embed_contents", ["token numbers"]),
        ("embeddings", "embed_content", ["several texts", "token numbers"]),
        (
            "batch_embed_contents",
            "embeddings",
            ["contents of several parts", "images"],
        ),
        (
            "embed_content",
            "embeddings",
            ["contents of several parts", "images"],
        ),
    ],
)
def test_what_cannot_be_asked_is_refused_by_name(
    caller: str, target: str, names: list[str]
) -> None:
    assert refused_features(caller, target) == names


def test_every_language_names_its_features_once() -> None:
    for language in embedding_languages():
        names = [feature.name for feature in language.features.features]
        assert names
        assert len(set(names)) == len(names)


BROKEN = (b'"*"', b'"AAA"', b"3", b'["a"]', b"[1", b"{}", b"[ ]", b'""')


def packed(*numbers):
    return b'"%b"' % base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers))


def test_a_string_becomes_its_numbers():
    assert json.loads(bytes(as_numbers(Raw(packed(0.5, -2.0)), "v"))) == [0.5, -2.0]


def test_numbers_become_a_string():
    assert bytes(as_base64(Raw(b"[0.5, -2]"), "v")) == packed(0.5, -2.0)


@pytest.mark.parametrize("text", [b"[0.10, 1e-9]", b"[0]"])
def test_a_list_keeps_its_text_as_numbers(text):
    assert bytes(as_numbers(Raw(text), "v")) == text


def test_a_string_keeps_its_text_as_base64():
    assert bytes(as_base64(Raw(packed(0.5)), "v")) == packed(0.5)


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_of_single_precision_survive_both_ways(numbers):
    text = Raw(json.dumps(numbers).encode())
    assert json.loads(bytes(as_numbers(as_base64(text, "v"), "v"))) == numbers


@pytest.mark.parametrize("text", BROKEN)
def test_what_is_no_vector_is_refused_with_its_place(text):
    for convert in (as_numbers, as_base64):
        with pytest.raises(WrongType, match="data") as excinfo:
            convert(Raw(text), "data[3].embedding")
        assert excinfo.value.place == "data[3].embedding"
