"""The command says so where another distribution's `engine` stands in place of Modelway's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """A folder of installed packages with the command in it."""
    shutil.copy2(ROOT / "modelway.py", tmp_path)
    return tmp_path


def other(folder: Path, text: str = "") -> None:
    """Another distribution's package `engine`."""
    (folder / "engine").mkdir(parents=True, exist_ok=True)
    (folder / "engine" / "__init__.py").write_text(text)
    facts = folder / "motor-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: motor\nVersion: 1.0\n")
    (facts / "RECORD").write_text("engine/__init__.py,,\n")


def run(*path: Path) -> subprocess.CompletedProcess[str]:
    """The command of the last folder, with these folders as Python's path and no others (-S)."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path))}
    command = [sys.executable, "-P", "-S", str(path[-1] / "modelway.py"), "version"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_a_package_before_it_on_the_path_is_named(packages, tmp_path):
    before = tmp_path / "before"
    other(before)
    result = run(before, packages)
    assert result.returncode == 1
    expected = (
        f"modelway: {before}/engine/__init__.py of motor stands in place of Modelway's package"
    )
    assert result.stderr.startswith(expected)


def test_a_package_that_was_installed_over_it_is_named(packages):
    other(packages, '"""Motors."""\n')
    result = run(packages)
    assert (result.returncode, result.stdout) == (1, "")
    assert "of motor stands in place of Modelway's package `engine`: install" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_package_that_was_installed_over_a_part_of_it_is_named(packages):
    shutil.copytree(ROOT / "engine", packages / "engine")
    other(packages, "")
    assert "of motor stands in place of Modelway's package `engine`" in run(packages).stderr


def test_what_is_left_when_that_package_was_removed_is_said(packages):
    shutil.copytree(ROOT / "engine", packages / "engine")
    (packages / "engine" / "__init__.py").unlink()
    result = run(packages)
    assert result.stderr.startswith("modelway: its package `engine` is missing: install Modelway")
    assert len(result.stderr.splitlines()) == 1


def test_a_failure_of_its_own_is_no_shadow(packages):
    other(packages, '"""Modelway, broken."""\n')
    assert "No module named 'engine.cli'" in run(packages).stderr


def test_the_command_runs():
    command = [sys.executable, str(ROOT / "modelway.py"), "version"]
    assert subprocess.check_output(command, text=True).startswith("modelway ")
