"""Each of the twenty defects that other gateways have is a case, or a test where it is no matter of
languages. `tests/cases/translations/README.md` says what they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support import yaml_text
from tests.support.paths import ROOT
from tests.support.translations import CASES

README = (CASES / "README.md").read_text("utf-8")
ROWS = {
    int(row[1]): row[2] for row in re.finditer(r"^\| (\d+) \|(.*)\|$", README, flags=re.MULTILINE)
}


def numbers(file: Path) -> list[int]:
    """The defects that a case is about."""
    numbers_of_file = yaml_text.load(file.read_text("utf-8")).get("defect", [])
    return [numbers_of_file] if isinstance(numbers_of_file, int) else numbers_of_file


CASE_FILES = {
    number: file for file in (CASES / "crossings").glob("*.yaml") for number in numbers(file)
}


def test_the_table_has_twenty_rows() -> None:
    assert list(ROWS) == list(range(1, 21))
    assert CASE_FILES.keys() <= ROWS.keys()


@pytest.mark.parametrize("number", range(1, 21))
def test_a_defect_has_a_case_or_tests(number: int) -> None:
    tests = re.findall(r"`(tests/\S+\.py)::(\w+)`", ROWS[number])
    assert tests or number in CASE_FILES
    for path, name in tests:
        assert f"def {name}(" in (ROOT / path).read_text("utf-8")
