"""The gate fails if any of its parts does, and compiles tests once."""

import os
import sys
import tomllib
from threading import Timer

import pytest

from tests.support.paths import ROOT
from tests.support.warm import DOOR
from tools import gate
from tools.gate import ELSEWHERE, WAITING, Checks, are_compiled, main, queues


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


GOOD, BAD = python("print('good')"), python("print('bad'); raise SystemExit(2)")
NOT_TEXT = python("import sys; sys.stdout.buffer.write(bytes([255])); raise SystemExit(2)")


@pytest.fixture
def parts(monkeypatch, tmp_path):
    """Set what the gate runs: the first check, those beside the tests, and pytest."""
    monkeypatch.setattr(gate, "TESTS", tmp_path)

    def set_parts(first, beside, tests):
        monkeypatch.setattr(gate, "FIRST", first)
        monkeypatch.setattr(gate, "BESIDE", (beside,))
        monkeypatch.setattr(gate, "PYTEST", tests)
        monkeypatch.setattr(gate, "IMPORTS", ("pytest",))

    return set_parts


@pytest.mark.parametrize(
    ("first", "beside", "tests", "status"),
    [
        (GOOD, GOOD, GOOD, 0),
        (BAD, GOOD, GOOD, 1),
        (GOOD, BAD, GOOD, 1),
        (GOOD, GOOD, BAD, 1),
        (GOOD, ("/no/such/program",), GOOD, 1),
        (GOOD, NOT_TEXT, GOOD, 1),
        (NOT_TEXT, GOOD, GOOD, 1),
    ],
    ids=[
        "all good",
        "types",
        "beside the tests",
        "tests",
        "no program",
        "no text",
        "no text first",
    ],
)
def test_each_part_can_fail(parts, first, beside, tests, status):
    parts(first, beside, tests)
    assert main(["-q"]) == status


def test_tests_do_not_start_before_types_are_right(parts, tmp_path):
    parts(BAD, GOOD, python(f"open({str(tmp_path / 'started')!r}, 'w')"))
    assert main(["-q"]) == 1
    assert not (tmp_path / "started").exists()


def test_tests_wait_for_the_programs_that_are_being_installed(parts, tmp_path, monkeypatch):
    installing = tmp_path / "installing"
    installing.touch()
    monkeypatch.setenv("MODELWAY_INSTALLING", str(installing))
    parts(
        GOOD, GOOD, python(f"import pathlib; assert not pathlib.Path({str(installing)!r}).exists()")
    )
    timer = Timer(0.3, installing.unlink)
    timer.start()
    assert main(["-q"]) == 0
    timer.join()


def test_output_of_checks_is_reported_with_what_failed():
    checks = Checks(GOOD, [BAD])
    checks.start()
    checks.go_on()
    checks.join()
    report = checks.report()
    assert "\ngood\n" in report
    assert "\nbad\n" in report
    assert report.count("failed: ") == 1


def test_arguments_go_to_pytest(parts, tmp_path):
    path = tmp_path / "arguments"
    write = f"import sys; open({str(path)!r}, 'w').write(' '.join(sys.argv))"
    parts(GOOD, GOOD, python(write))
    main(["tests/values"])
    assert path.read_text().endswith("-n 4 --dist worksteal tests/values")


def test_an_empty_checkout_is_compiled_by_one_process(parts, tmp_path):
    calls = tmp_path / "calls"
    write = f"import sys; open({str(calls)!r}, 'a').write(' '.join(sys.argv[1:]) + chr(10))"
    (tmp_path / "test_a.py").write_text(f"def test_a():\n    {write}\n")
    parts(GOOD, GOOD, python(write))
    assert main([]) == 0
    first, *others = calls.read_text().splitlines()
    assert first.startswith("--collect-only -qq ")
    assert [line.split()[-1] for line in others] == [str(tmp_path / "test_a.py")]


def test_every_test_is_in_one_group():
    waiting, computing = ([m for group in queue for m in group.modules] for queue in queues())
    assert all((ROOT / "tests" / folder).is_dir() for folder in (*WAITING, *ELSEWHERE))
    assert {module.parts[1] for module in waiting} == {*WAITING}
    everything = {path.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py")}
    elsewhere = {path for path in everything if path.parts[1] in ELSEWHERE}
    assert sorted([*waiting, *computing]) == sorted(everything - elsewhere)


def test_what_is_elsewhere_is_not_collected():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]
    assert {*ELSEWHERE} < {*settings["ini_options"]["norecursedirs"]}


def test_groups_share_the_process_that_has_imported_the_engine(parts, tmp_path):
    check = f"os.environ.get({DOOR!r}) not in (None, {os.environ.get(DOOR)!r})"
    text = f"import os\ndef test_a(): assert {check}\n"
    (tmp_path / "test_a.py").write_text(text)
    parts(GOOD, GOOD, GOOD)
    assert main([]) == 0


def test_a_group_can_fail(parts, tmp_path):
    (tmp_path / "test_a.py").write_text("def test_a(): assert False\n")
    parts(GOOD, GOOD, GOOD)
    assert main([]) == 1


def test_compiled_tests_are_known_by_python_and_pytest(tmp_path):
    (tmp_path / "test_a.py").write_text("")
    assert not are_compiled(tmp_path)
    cache = tmp_path / "__pycache__"
    cache.mkdir()
    (cache / "test_a.cpython-39-pytest-1.0.pyc").write_bytes(b"")
    assert not are_compiled(tmp_path)
    ending = f"{sys.implementation.cache_tag}-pytest-{pytest.__version__}"
    (cache / f"test_a.{ending}.pyc").write_bytes(b"")
    assert are_compiled(tmp_path)
