"""Tags as a text."""

from engine.values.tags import tag_in, tag_value, tags_text
from tests.support.each import each


@each("text", ["", "[]", "7", '{"a": 1}', '{"a": "cut', '{"b": "x"}'])
def test_a_text_without_the_tag_has_no_value(text):
    assert tag_in(text, "a") == ""


def test_equal_tags_have_equal_texts():
    assert tags_text({"b": "2", "a": "1"}) == tags_text({"a": "1", "b": "2"})
    assert tags_text({}) == ""


@each(
    "text,stays",
    [("Zoë GmbH", True), ("a|b", True), ("#none", False), ("a\nb", False), ("x" * 65, False)],
)
def test_odd_values_are_hashed(text, stays):
    assert (tag_value(text) == text) == stays
    assert len(tag_value(text)) <= 64


def test_what_looks_like_a_secret_is_left_out():
    assert tag_value("for mw-" + "a1" * 32) == "for mw-***"
    assert tag_value("sk-proj-" + "Ab1_" * 8) == "sk-***"
    assert tag_value("sk-proj-" + "Ab1_" * 30).startswith("#")
