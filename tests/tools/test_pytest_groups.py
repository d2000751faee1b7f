"""Groups hold every module once, and their results are added."""

from pathlib import Path

import pytest

from tests.support.waiting import until
from tools.pytest_groups import Group, groups_of, run_groups, shrinking_groups

OPTIONS = ["-q", "-p", "no:cacheprovider"]
GOOD = "def test_good(): pass\n"
BAD = "def test_bad(): assert 'seven' == 7\n"
SKIPPED = "import pytest\ndef test_skipped(): pytest.skip('no moon')\n"


def write(folder: Path, **texts: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -ra\n")
    for name, text in texts.items():
        (folder / f"test_{name}.py").write_text(text)


def names(groups: list[Group]) -> list[str]:
    return [" ".join(module.stem[5:] for module in group.modules) for group in groups]


def test_neighbours_by_name_share_a_group(tmp_path):
    write(tmp_path / "one", **dict.fromkeys("abcde", GOOD))
    write(tmp_path / "two", f=GOOD)
    assert names(groups_of([tmp_path / "one", tmp_path / "two"], 3)) == ["a b", "c d e", "f"]
    assert groups_of([tmp_path / "none"], 3) == []


def test_the_last_groups_are_small(tmp_path):
    write(tmp_path / "one", **dict.fromkeys("abcdefghi", GOOD))
    write(tmp_path / "two", j=GOOD)
    groups = shrinking_groups(tmp_path, 2, 2, ignore=[tmp_path / "two"])
    assert names(groups) == ["a b c d", "e f", "g h", "i"]
    assert shrinking_groups(tmp_path / "none", 2, 2, ignore=[]) == []


def test_one_process_begins_before_the_others_may(tmp_path):
    """It has its own queue alone, until the others may."""
    write(tmp_path, **dict.fromkeys("abc", GOOD))
    write(tmp_path, c=f"def test_good(): open({str(tmp_path)!r} + '/began', 'w')\n")
    groups = groups_of([tmp_path], 1)

    def may_begin() -> bool:
        until((tmp_path / "began").exists, "the last process to begin")
        return True

    queues = [groups[:2], groups[2:]]
    results = run_groups(OPTIONS, queues, [1, 1], may_begin=may_begin)
    assert results.counts == {"passed": 3}


def test_if_no_other_may_begin_the_first_ends(tmp_path):
    write(tmp_path, **dict.fromkeys("ab", GOOD))
    began = f"open({str(tmp_path)!r} + '/began', 'w')"
    write(tmp_path, c=f"import time\ndef test_long():\n    {began}\n    time.sleep(600)\n", d=GOOD)
    groups = groups_of([tmp_path], 1)

    def may_begin() -> bool:
        until((tmp_path / "began").exists, "the last process to begin")
        return False

    results = run_groups(OPTIONS, [groups[:2], groups[2:]], [1, 1], may_begin=may_begin)
    assert (results.counts, results.failures) == ({}, [])


def test_results_of_all_groups_are_added(tmp_path, capsys):
    write(tmp_path, a=GOOD, b=BAD, c=SKIPPED, d=GOOD + BAD)
    results = run_groups(OPTIONS, [groups_of([tmp_path], 1), []], [2, 1])
    assert results.counts == {"passed": 2, "failed": 2, "skipped": 1}
    assert sorted(names(results.failures)) == ["b", "d"]
    output = capsys.readouterr().out
    assert "assert 'seven' == 7" in output
    assert "no moon" in output
    assert f"failed: {tmp_path / 'test_b.py'}\n" in str(results)


@pytest.mark.parametrize("text", ["def broken(:", "import os; os._exit(3)"], ids=["syntax", "end"])
def test_a_process_that_cannot_run_its_tests_fails(tmp_path, text):
    write(tmp_path, a=text, b=GOOD)
    assert names(run_groups(OPTIONS, [groups_of([tmp_path], 1)], [1]).failures) == ["a"]


def test_processes_have_ports_of_their_own(tmp_path):
    """Those that run at the same time."""
    text = f"import os\ndef test_ports():\n    open({str(tmp_path)!r} + '/ports', 'a').write("
    write(tmp_path, **dict.fromkeys("ab", text + "os.environ['MODELWAY_TEST_PORTS'] + ' ')"))
    groups = groups_of([tmp_path], 1)
    assert not run_groups(OPTIONS, [groups[:1], groups[1:]], [1, 1]).failures
    assert {*(tmp_path / "ports").read_text().split()} <= {"0", "1"}


def test_shared_modules_are_those_of_the_folder(tmp_path, monkeypatch):
    """Not those that are installed."""
    (tmp_path / "colorsys.py").write_text("ours = True\n")
    write(tmp_path, a="import colorsys\ndef test_ours(): assert colorsys.ours\n")
    monkeypatch.chdir(tmp_path)
    results = run_groups(OPTIONS, [groups_of([tmp_path], 1)], [1], ["pytest", "colorsys"])
    assert results.counts == {"passed": 1}
