"""Signatures of one vendor inside the requests and answers of another."""

from __future__ import annotations

from engine.translations.neutral.content import Signature, is_sealed, objects, seal, unseal
from tests.support.each import each


@each("language", ["messages", "generate_content"])
def test_a_signature_returns_to_the_language_that_made_it(language: str) -> None:
    signature = Signature("generate_content", "a:b=")
    assert unseal(seal(signature, language), language) == signature


def test_a_signature_of_the_callers_language_is_not_sealed() -> None:
    text = seal(Signature("messages", "EqQB"), "messages")
    assert (text, is_sealed(text)) == ("EqQB", False)


@each(("value", "sealed"), [("modelway:messages:x", True), ("x", False), (None, False), (1, False)])
def test_a_seal_is_recognised(value: object, sealed: bool) -> None:
    assert is_sealed(value) == sealed


@each(
    ("value", "expected"),
    [
        ({"a": [{"x": 1}, 2, {}]}, [(0, {"x": 1}), (2, {})]),
        ({"a": {}}, []),
        ({}, []),
        ([], []),
    ],
)
def test_the_objects_of_a_list_have_their_indexes(value: object, expected: object) -> None:
    assert objects(value, "a") == expected
