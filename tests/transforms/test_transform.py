"""A compiled transform as a value."""

from engine.transforms.header_edits import HeaderEdits
from engine.transforms.transform import RequestEdits, Transform


def test_the_place_of_a_transform_is_a_text():
    assert Transform(("policies", 0, "transform")).place == "policies.0.transform"


def test_edits_are_empty_without_any():
    assert not RequestEdits()
    assert RequestEdits(HeaderEdits(remove=frozenset({"x-a"})))
