"""Problems: how they are sorted, worded and shown."""

from engine.source.problem import Findings, Level, Problem, path_in, render
from tests.support.each import each


class Source:
    """A file whose every value stands at line 3, column 5, and every key at line 3, column 1."""

    file = "gateway.yaml"
    text = "a\nb\nkey: value"
    problems: tuple[Problem, ...] = ()

    def place(self, path, *, key=False):
        return 3, 1 if key else 5

    def redact(self, words):
        return words.replace("sk-secret", "${KEY}")


def problem(line=3, column=5, level=Level.ERROR, hint="", file="gateway.yaml"):
    return Problem(file, line, column, level, "MW101", "unknown key 'a'", hint)


def test_a_problem_says_file_line_column_level_message_and_code():
    assert str(problem()) == "gateway.yaml:3:5: error: unknown key 'a' [MW101]"


def test_a_problem_of_the_file_as_a_whole_has_no_line():
    assert str(problem(0, 0)) == "gateway.yaml: error: unknown key 'a' [MW101]"


def test_problems_sort_by_file_line_and_column_and_stand_once():
    findings = Findings()
    places = [("b", 1, 1), ("a", 10, 1), ("a", 9, 2), ("a", 9, 1), ("a", 9, 1)]
    findings.unsorted += [problem(line, column, file=file) for file, line, column in places]
    assert [(p.file, p.line, p.column) for p in findings.problems] == [
        ("a", 9, 1),
        ("a", 9, 2),
        ("a", 10, 1),
        ("b", 1, 1),
    ]


def test_an_error_is_noted_at_the_value_or_at_its_key():
    findings = Findings()
    findings.error(Source(), ("a",), "MW1", "at the value")
    findings.error(Source(), ("a",), "MW1", "at the key", key=True)
    assert [(p.column, p.message) for p in findings.errors] == [
        (1, "at the key"),
        (5, "at the value"),
    ]


def test_warnings_and_infos_do_not_count_as_errors():
    findings = Findings()
    findings.note(Source(), (), Level.WARNING, "MW1", "a warning")
    findings.note(Source(), (), Level.INFO, "MW1", "an info")
    assert (len(findings.problems), findings.errors) == (2, [])


def test_a_problem_is_shown_with_its_line_a_caret_and_the_hint():
    text = render(
        problem(3, 5, hint="did you mean 'b'?"), {"gateway.yaml": "x: 1\ny: 2\n    a: 3\n"}
    )
    assert text.splitlines() == [
        "gateway.yaml:3:5: error: unknown key 'a' [MW101]",
        "  3 |     a: 3",
        "    |     ^",
        "  hint: did you mean 'b'?",
    ]


def test_the_caret_is_under_the_place_even_after_tabs():
    line, caret = render(problem(1, 3), {"gateway.yaml": "\t\ta: 1"}).splitlines()[1:]
    assert line == "  1 | \t\ta: 1"
    assert caret == "    | \t\t^"


def test_the_caret_stays_under_a_line_number_of_three_digits():
    line, caret = render(problem(100, 2), {"gateway.yaml": "\n" * 99 + " a: 1"}).splitlines()[1:]
    assert line.index("a") == caret.index("^")


@each("texts", [{}, {"gateway.yaml": "one line"}, {"gateway.yaml": ""}])
def test_a_problem_without_its_line_is_shown_all_the_same(texts):
    assert render(problem(7, 1), texts) == str(problem(7, 1))


def test_a_problem_of_the_whole_file_shows_no_line():
    assert render(problem(0, 0), {"gateway.yaml": "a: 1"}) == str(problem(0, 0))


def test_a_very_long_line_is_cut():
    text = render(problem(1, 500), {"gateway.yaml": "a" * 1000})
    assert max(len(line) for line in text.splitlines()) < 200


def test_a_secret_is_taken_out_of_message_and_hint_as_it_is_noted():
    findings = Findings()
    findings.error(Source(), (), "MW1", "unknown 'sk-secret'", "not sk-secret")
    findings.note(Source(), (), Level.INFO, "MW1", "sk-secret")
    assert "sk-secret" not in "".join(p.message + p.hint for p in findings.problems)
    assert findings.errors[0].message == "unknown '${KEY}'"


def test_the_text_of_a_file_with_problems_is_kept_for_showing_it():
    findings = Findings()
    findings.error(Source(), (), "MW1", "wrong")
    assert render(findings.errors[0], findings.texts).splitlines()[1] == "  3 | key: value"


def test_names_of_digits_are_found_again_in_a_path():
    value = {"01": {"2": [{"x": 1}]}, "a": {"1": 0, "001": 0}}
    assert path_in(value, [1, 2, 0, "x"]) == ("01", "2", 0, "x")
    assert path_in(value, ["a", 1]) == ("a",)  # either could be meant
    assert path_in(value, ["nowhere"]) == ()
