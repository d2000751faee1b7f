"""YAML syntax errors: their place, and the hint."""

from __future__ import annotations

from engine.source.reader import read
from tests.support.each import each

TABS = "indent with spaces, never with tabs"
COLON = "put quotes around a value that holds ': '"
ONE_COLUMN = "keys of a mapping begin in the same column"
INDENTED = f"it is indented by 1 spaces, the line before by 0: {ONE_COLUMN}"
OTHER_COLUMN = (
    "it begins in column 2, the line before in column 3, the keys around them (line 1) in "
    f"column 1: {ONE_COLUMN}"
)
DASH = "a list entry begins with '- ', a dash and a space; the line before does not"
ALIAS = "put quotes around a value that begins with '*', or name it before with '&'"
BRACKET = "remove this ']', or open it before"


@each(
    ("text", "line", "column", "hint"),
    [
        ("a: [1, 2\nb: 3\n", 1, 4, "the text at 2:2 cannot be part of it"),
        ("a: [b}\n", 1, 4, "'}' closes something else at 1:6"),
        ("a: [1 2, {]\n", 1, 11, BRACKET),
        ("a: ]\n", 1, 4, BRACKET),
        ("a: {b: ${X}}\n", 1, 9, 'inside { } put quotes around it: "${VAR}"'),
        ('a: {b: "1" c: 2}\n', 1, 12, "put a comma between two entries"),
        ("a: 1\n b: 2\n", 2, 2, INDENTED),
        ("a:\n  - 1\n b: 2\n", 3, 2, OTHER_COLUMN),
        ("a:\n  -b\n    c: 1\n", 3, 6, DASH),
        ("a: 1\n\tb: 2\n", 2, 1, TABS),
        ('a: "open\n', 1, 4, ""),
        ("a: 'x\nb: 'y'\n", 1, 4, "close it on its own line"),
        ("a: *nowhere\n", 1, 4, ALIAS),
        ("a: *\n", 1, 5, 'put quotes around it: "*"'),
        ("a: 1\n---\nb: 2\n", 2, 1, "remove the line '---': a file holds one document"),
        ("a: b: c\n", 1, 5, COLON),
        ("a: 1\nb 2\nc: 3\n", 2, 1, "write 'key: value'"),
        ("a: 1\nb=2\nc: 3\n", 2, 1, "write 'b: ...', with a colon and a space"),
        ("a: @x\n", 1, 4, "put quotes around a value that begins with @"),
        ("%YAML 3.0\n---\na: 1\n", 1, 1, "put quotes around a value that begins with %"),
    ],
)
def test_a_syntax_error_is_one_problem_at_its_place_with_a_hint(text, line, column, hint):
    (problem,) = read(text, "f").problems
    assert (problem.line, problem.column, problem.code) == (line, column, "MW001")
    assert problem.hint == hint
