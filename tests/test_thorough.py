"""What the gate leaves out is in a thorough run: `support/thorough.py`."""

from __future__ import annotations

import pytest

from tests.support.thorough import diagonal, examples, some


@pytest.mark.parametrize(("rows", "columns"), [("ab", "123"), ("abc", "12"), ("a", "1")])
def test_a_diagonal_has_each_row_and_each_column(rows: str, columns: str) -> None:
    pairs = diagonal(rows, columns, whole=False)
    assert {row for row, _ in pairs} == {*rows}
    assert {column for _, column in pairs} == {*columns}
    assert len(pairs) == max(len(rows), len(columns))


def test_the_whole_has_every_pair_and_every_value() -> None:
    assert len(diagonal("ab", "123", whole=True)) == 6
    assert some("abc", 2, whole=True) == "abc"
    assert some("abc", 2, whole=False) == "ab"


def test_the_environment_names_another_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MODELWAY_EXAMPLES", raising=False)
    assert examples(12) == 12
    monkeypatch.setenv("MODELWAY_EXAMPLES", "1000")
    assert examples(12) == 1000
