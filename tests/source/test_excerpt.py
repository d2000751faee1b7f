"""Lines of a file with marks under a word: cut, wide, with tabs, and harmless."""

import tracemalloc

from engine.source.excerpt import annotation, escape, excerpt
from tests.support.each import each


def lines(text, line, column, context=0):
    result = excerpt(text, line, column, context)
    return [text_line for _, text_line in result.lines], result.marks


def test_the_marks_stand_under_the_whole_word():
    assert lines("key: value", 1, 6) == (["key: value"], "     ^~~~~")


@each(
    ("line", "column", "word"),
    [
        ("a: 'it''s, so'  # x", 4, "'it''s, so'"),
        ('a: "x \\" y" # z', 4, '"x \\" y"'),
        ("url: http://host:80/v1, b: 1", 6, "http://host:80/v1"),
        ("{upstrem: 1}", 2, "upstrem"),
        ("m: $request.body#/model", 4, "$request.body#/model"),
        ("[a, b]", 1, "["),
        ("a: ", 4, "?"),
    ],
)
def test_a_word_ends_where_yaml_ends_it(line, column, word):
    _, marks = lines(line, 1, column)
    assert marks == " " * (column - 1) + "^" + "~" * (len(word) - 1)


def test_wide_characters_take_two_cells_and_combining_ones_none():
    assert lines("日本: 語語", 1, 5)[1] == " " * 6 + "^~~~"
    assert lines("e\u0301: xy", 1, 5)[1] == " " * 3 + "^~"


def test_a_tab_before_the_place_is_a_tab_in_the_marks():
    assert lines("\tkey: v", 1, 2)[1] == "\t^~~"


def test_lines_around_are_shown_but_no_blank_ones():
    result = excerpt("a: 1\n\nb: 2\nc: 3\nd: 4", 3, 1, 1)
    assert result.lines == ((3, "b: 2"), (4, "c: 3"))
    assert [n for n, _ in excerpt("a\nb\nc", 2, 1, 5).lines] == [1, 2, 3]


@each("column", [1, 59, 60, 61, 119, 120, 121, 700, 1390, 1400])
@each("unit", ["word-abc, ", "日本語, ", "\t"])
def test_a_long_line_is_cut_around_the_place_and_the_mark_stays_under_it(column, unit):
    text = unit * 200
    column = min(column, len(text))
    (line,), marks = lines(text, 1, column)
    assert len(line) <= 122
    at = marks.index("^")
    cells = 0
    for char in line:
        if cells >= at:
            break
        cells += 2 if char in "日本語" else 1
    assert cells == at
    assert char == text[column - 1]


def test_around_a_line_that_is_cut_on_the_left_no_others_are_shown():
    assert len(excerpt("short\n" + "x, " * 400 + "\nshort", 2, 1000, 1).lines) == 1


def test_control_characters_are_shown_as_pictures():
    (line,), _ = lines("a: \x1b[31m\x7f", 1, 1)
    assert line == "a: ␛[31m\N{REPLACEMENT CHARACTER}"


def test_characters_that_reorder_others_are_replaced():
    (line,), mark = lines("a: \u202edeah\u2066 b", 1, 11)
    assert line == "a: \N{REPLACEMENT CHARACTER}deah\N{REPLACEMENT CHARACTER} b"
    assert mark.index("^") == 10


@each(("line", "column"), [(0, 0), (2, 1), (99, 1)])
def test_a_line_that_there_is_not_has_no_excerpt(line, column):
    assert excerpt("one", line, column) is None


def test_a_column_behind_the_end_is_marked_at_the_end():
    assert lines("ab", 1, 99)[1] == "  ^"


def test_a_further_excerpt_of_a_large_text_does_not_read_it_again() -> None:
    text = "a line of a large document\n" * 100_000
    excerpt(text, 50_000, 3)
    tracemalloc.start()
    try:
        found = excerpt(text, 99_999, 3, 1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found is not None
    assert [number for number, _ in found.lines] == [99_998, 99_999, 100_000]
    assert peak < len(text) / 10


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
