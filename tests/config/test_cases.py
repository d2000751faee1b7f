"""Broken gateway.yaml files and documents, as cases: every problem of a file, and no other.

A case is tests/cases/configs/<name>.yaml. Its last lines say what is to be found in it:

    # env: NAME=value                                  an environment variable (with \\n, \\r)
    # expect: 12:7 MW101 unknown key 'upstrem' | did you mean 'upstream'?
    # expect: openapi/shop.yaml:3:5 warning MW212 ...  in another file, of another level
    # expect: 12:*                                     whatever the column, the code, the words
    # expect: nothing                                  a file that is right

The message is the whole message, what follows `|` a part of the hint; both may be left out, as may
the code. Infos are not listed. The value of a variable must not show up in anything that is said.
"""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from engine.plan.assembly.make_plan import make_plan
from engine.plan.plan import PlanResult
from engine.source.problem import Level, Problem, render
from tests.support import paths

CASES = paths.CASES / "configs"
_EXPECT = re.compile(
    r"(?:(?P<file>[^\s:]+):)?(?P<line>\d+):(?P<column>\d+|\*)(?: (?P<level>warning))?"
    r"(?: (?P<code>MW\d+))?(?: (?P<message>[^|\s].*?))??(?: \| (?P<hint>.+))?"
)


class Expected(NamedTuple):
    """One line `# expect:`; None stands for what it leaves open."""

    file: str
    line: int
    column: int | None
    level: str
    code: str | None
    message: str | None
    hint: str | None

    def is_met_by(self, problem: Problem) -> bool:
        pairs = (
            (self.file, problem.file),
            (self.line, problem.line),
            (self.column, problem.column),
            (self.level, str(problem.level)),
            (self.code, problem.code),
            (self.message, problem.message),
        )
        fits = all(expected is None or expected == actual for expected, actual in pairs)
        return fits and (self.hint is None or self.hint in problem.hint)


class Case(NamedTuple):
    """A file, the environment it is read in, and what is expected of it."""

    file: Path
    environ: dict[str, str]
    expected: list[Expected]


def expected(text: str, name: str) -> Expected:
    match = _EXPECT.fullmatch(text)
    assert match is not None, f"not understood: {text}"
    column = None if match["column"] == "*" else int(match["column"])
    return Expected(
        match["file"] or name,
        int(match["line"]),
        column,
        match["level"] or "error",
        match["code"],
        match["message"],
        match["hint"],
    )


def case(file: Path) -> Case:
    text = file.read_text("utf-8")
    lines = re.findall(r"^# expect: (.+)$", text, re.MULTILINE)
    assert lines, f"{file.name} expects nothing: say `# expect: nothing` if it is right"
    pairs = [line.split("=", 1) for line in re.findall(r"^# env: (.+)$", text, re.MULTILINE)]
    environ = {name: value.replace("\\r", "\r").replace("\\n", "\n") for name, value in pairs}
    expectations = [expected(line, file.name) for line in lines if line != "nothing"]
    return Case(file, environ, expectations)


FILES = sorted(CASES.glob("*.yaml"))


@pytest.fixture(autouse=True)
def in_the_folder_of_the_cases(monkeypatch):
    monkeypatch.chdir(CASES)


def planned(case: Case) -> PlanResult:
    return make_plan(Path(case.file.name), case.environ)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_problem_of_a_case_is_found_at_its_place_and_no_other(file):
    """Without an error there is a plan, with one there is none; each problem can be shown."""
    case_ = case(file)
    result = planned(case_)
    missing = list(case_.expected)
    surplus = []
    for problem in [p for p in result.problems if p.level is not Level.INFO]:
        expectation = next((e for e in missing if e.is_met_by(problem)), None)
        if expectation is None:
            surplus.append(f"{problem} | {problem.hint}")
        else:
            missing.remove(expectation)
    assert (missing, surplus) == ([], [])
    assert (result.plan is None) == any(e.level == "error" for e in case_.expected)
    for problem in result.problems:
        check_place(problem, result.texts)


def check_place(problem: Problem, texts: dict[str, str]) -> None:
    """The place of a problem is in the text of its file."""
    assert problem.file in texts, f"{problem.file} has no text to show"
    lines = texts[problem.file].splitlines()
    assert problem.line <= max(len(lines), 1) + 1
    if 0 < problem.line <= len(lines):
        assert 1 <= problem.column <= len(lines[problem.line - 1]) + 1


SECRET = [file for file in FILES if case(file).environ and "SHOP_KEY=\n" not in file.read_text()]


@pytest.mark.parametrize("file", SECRET, ids=lambda file: file.stem)
def test_the_value_of_a_variable_is_never_shown(file):
    case_ = case(file)
    result = planned(case_)
    output = "\n".join(render(problem, texts_without_env(result)) for problem in result.problems)
    values = [v for v in case_.environ.values() if v.startswith("sk-")]
    assert not [value for value in values if value in output]


def texts_without_env(result: PlanResult) -> dict[str, str]:
    """The files' texts without the lines that set a case's variables."""
    return {name: text.partition("# env:")[0] for name, text in result.texts.items()}


def test_there_are_many_cases():
    assert len(FILES) >= 70


@pytest.mark.parametrize(
    ("line", "is_met"),
    [
        ("2:3", True),
        ("2:*", True),
        ("3:3", False),
        ("2:4", False),
        ("2:3 MW101", True),
        ("2:3 MW102", False),
        ("2:3 MW101 a message", True),
        ("2:3 MW101 a mess", False),
        ("2:3 MW101 a message | hint", True),
        ("2:3 MW101 | hint", True),
        ("2:3 MW101 a message | other", False),
        ("2:3 warning MW101", False),
        ("other.yaml:2:3", False),
    ],
)
def test_an_expectation_can_be_missed(line, is_met):
    problem = Problem("f.yaml", 2, 3, Level.ERROR, "MW101", "a message", "a hint")
    assert expected(line, "f.yaml").is_met_by(problem) is is_met
