"""The order of a run, and what is left out of it."""

from __future__ import annotations

from pathlib import Path

from benchmarks.compare.measure import Plan
from benchmarks.compare.run import Run, builds, in_turn
from benchmarks.compare.system import LeftOut, System, Upstream


def system(name: str, folder: Path) -> System:
    return System(name, f"{name} 1", ["true"], folder, 80)


def test_no_system_is_always_the_first(tmp_path):
    systems = [system(name, tmp_path) for name in "abc"]
    orders = ["".join(each.name for each in in_turn(systems, number)) for number in range(3)]
    assert orders == ["abc", "cba", "abc"]


def test_a_system_that_cannot_be_had_is_left_out_with_the_reason(tmp_path):
    def missing(folder: Path, upstream: Upstream) -> System:
        raise LeftOut("it is not installed")

    run = Run(tmp_path, Upstream(80), Plan(1.0, 1, {}, b""), 1)
    run.prepare({"a": missing, "b": lambda folder, _: system("b", folder)})
    assert run.results.left_out == {"a": "it is not installed"}
    assert [each.name for each in run.results.systems] == ["b"]


def test_a_base_and_other_pythons_are_systems_too(tmp_path):
    assert list(builds(tmp_path, ("python3.13", "python3.14"))) == [
        "base",
        "python3.13",
        "python3.14",
    ]
    assert builds(None, ()) == {}
