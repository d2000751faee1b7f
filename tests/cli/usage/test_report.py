"""The forms of a report."""

import contextlib
import cProfile
import io
import pstats

from engine.cli.usage.report import UsageReport, print_table, spreadsheet_cell
from engine.stores.database.sums import UsageFilter
from engine.stores.database.totals import Total
from tests.support.each import each


def test_a_large_table_is_rendered_with_few_calls():
    totals = [Total(f"token-{n}", requests=n, cost={"USD": n}) for n in range(2000)]
    profile = cProfile.Profile()
    with contextlib.redirect_stdout(io.StringIO()) as output:
        profile.runcall(print_table, UsageReport("token", UsageFilter(0, 1), totals, 0))
    assert len(output.getvalue().splitlines()) == 2002
    assert pstats.Stats(profile).total_calls / len(totals) < 200


def test_a_long_key_has_a_line_of_its_own_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    totals = [Total("m" * 200, requests=1234), Total("short", requests=1)]
    print_table(UsageReport("model", UsageFilter(0, 1), totals, 0))
    head, key, long, short, total = capsys.readouterr().out.splitlines()
    assert key == "m" * 200
    assert long.split()[0] == "1,234"
    width = head.index("REQUESTS") + len("REQUESTS")
    assert (long[:width].split(), short[:width].split()) == (["1,234"], ["short", "1"])
    assert total[:width].split() == ["total", "1,235"]


def test_a_long_key_is_in_its_row_where_standard_output_is_no_terminal(capsys):
    totals = [Total("m" * 200, requests=1234), Total("short", requests=1)]
    print_table(UsageReport("model", UsageFilter(0, 1), totals, 0))
    _, long, _, _ = capsys.readouterr().out.splitlines()
    assert long.split()[:2] == ["m" * 200, "1,234"]


@each(
    ("value", "cell"),
    [
        ("=1", "'=1"),
        ("-1", "'-1"),
        ("\t=1", "'\t=1"),
        ("\uff1d1", "'\uff1d1"),
        ("a\r=1", "a␍=1"),
        ("\n=1", "␊=1"),
        ("gpt-4o", "gpt-4o"),
        (-1.5, "-1.500"),
        (None, ""),
    ],
)
def test_no_cell_is_a_formula_or_two_rows(value, cell):
    assert spreadsheet_cell(value) == cell
