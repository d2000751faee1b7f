"""Comments that silence warnings."""

import pytest

from engine.offline.check.ignores import DocumentIgnore, Ignores
from engine.source.problem import Level, Problem

FILE = "gateway.yaml"


def warning(line, code="MW401", level=Level.WARNING):
    return Problem(FILE, line, 1, level, code, "words", "")


def silence(text, *problems):
    """The lines of the problems that are left, and the codes that `unused` adds with places."""
    ignores = Ignores()
    remaining = ignores.silence(problems, {FILE: text})
    return [p.line for p in remaining], [(p.code, p.line, p.column) for p in ignores.unused()]


def test_a_warning_of_the_code_is_silenced_on_its_line_only():
    text = "a: 1  # modelway: ignore MW401 a test server\nb: 2\n"
    assert silence(text, warning(1), warning(2)) == ([2], [])


def test_several_codes_are_separated_by_spaces_or_commas():
    text = "a: 1  # modelway: ignore MW401, MW402 MW403 both are wanted\n"
    problems = [warning(1, code) for code in ("MW401", "MW402", "MW403", "MW404")]
    assert silence(text, *problems) == ([1], [])


def test_an_error_is_never_silenced():
    text = "a: 1  # modelway: ignore MW401\n"
    remaining, unused = silence(text, warning(1, level=Level.ERROR))
    assert remaining == [1]
    assert [code for code, *_ in unused] == ["MW413"]


def test_an_ignore_without_a_warning_is_a_warning_at_its_code():
    assert silence("a: 1 # modelway: ignore MW401\n") == ([], [("MW413", 1, 25)])


def test_an_ignore_without_a_code_is_a_warning_at_its_comment():
    assert silence("b: 2\na: 1 # modelway: ignore it\n") == ([], [("MW414", 2, 6)])


@pytest.mark.parametrize(
    "text",
    ['a: "# modelway: ignore MW401"\n', "a: x#modelway: ignore MW401\n", "a: 1\n"],
    ids=["in quotes", "no comment", "none"],
)
def test_text_that_is_no_comment_silences_nothing(text):
    assert silence(text, warning(1)) == ([1], [])


def test_a_text_is_read_once_however_often_it_is_given():
    ignores = Ignores()
    texts = {FILE: "a: 1 # modelway: ignore MW401\n"}
    assert ignores.silence([warning(1)], texts) == []
    assert ignores.silence([], texts) == []
    assert ignores.unused() == []


OF_DOCUMENT = DocumentIgnore(FILE, 4, 7, "MW240", frozenset({"shop.json", "parts.json"}))


def about(file, level=Level.WARNING):
    return Problem(file, 1, 1, level, "MW240", "words", "")


def test_a_code_of_a_spec_silences_its_warnings_in_all_files_of_the_document():
    ignores = Ignores()
    problems = [about("shop.json"), about("parts.json"), about("other.json")]
    assert [p.file for p in ignores.silence(problems, {}, [OF_DOCUMENT])] == ["other.json"]
    assert ignores.unused() == []


def test_a_code_of_a_spec_silences_no_error_and_is_then_a_warning_at_its_place():
    ignores = Ignores()
    assert len(ignores.silence([about("shop.json", Level.ERROR)], {}, [OF_DOCUMENT])) == 1
    [unused] = ignores.unused()
    assert (unused.code, unused.line, unused.column) == ("MW413", 4, 7)
    assert unused.message == "there is no warning MW240 about the document to ignore"
