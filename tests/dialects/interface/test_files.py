"""Values of answers that describe files."""

from engine.dialects.interface.files import size_of, text_of
from tests.support.each import each


@each(("value", "size"), [(7, 7), ("7", 7), ("x", 0), (None, 0), (-1, 0), ("", 0)])
def test_a_size_may_be_a_text(value, size):
    assert size_of(value) == size


@each(("value", "text"), [("a", "a"), ("", "d"), (None, "d"), (3, "d")])
def test_a_text_may_be_missing(value, text):
    assert text_of(value, "d") == text
