"""Annotations of GitHub Actions."""

from engine.source.annotation import annotation, escape


def test_an_annotation_has_its_place_its_title_and_its_message():
    text = annotation("error", "MW101", "wrong", file="gateway.yaml", line=3, column=7)
    assert text == "::error file=gateway.yaml,line=3,col=7,title=MW101::wrong"


def test_line_0_is_the_whole_file():
    text = annotation("notice", "MW101", "wrong", file="a.yaml", line=0, column=0)
    assert text == "::notice file=a.yaml,title=MW101::wrong"


def test_nothing_in_a_property_ends_it_or_the_command():
    text = annotation("error", "a: b, c", "x", file="100%\r\n.yaml", line=1, column=1)
    assert "file=100%25%0D%0A.yaml," in text
    assert "title=a%3A b%2C c::" in text


def test_a_message_is_one_line():
    assert escape("50% of\r\nall: a, b") == "50%25 of%0D%0Aall: a, b"
