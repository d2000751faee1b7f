"""The gateway's own builds."""

from __future__ import annotations

import sys

from benchmarks.compare.systems import ours


def test_a_base_is_another_checkout_under_the_same_python(tmp_path):
    assert ours.base(tmp_path) == ours.Build("base", tmp_path, sys.executable)


def test_the_version_is_that_of_the_checkout(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "modelway"\nversion = "9.8.7"\n')
    assert ours.version(tmp_path).split()[0] == "9.8.7"
