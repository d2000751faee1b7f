"""Groups hold every module once, and their results are added."""

from pathlib import Path

import pytest

from tools.pytest_groups import Group, groups_of, run_groups

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
    assert names(groups_of([tmp_path], 9, ignore=[tmp_path / "two"])) == ["a b c d e"]
    assert groups_of([tmp_path / "none"], 3) == []


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
