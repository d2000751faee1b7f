"""What users run in CI: the script of the action finds what a change weakens, and says so."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.support.commands import DOCUMENT, GOOD, modelway
from tests.support.paths import ROOT

SCRIPT = ROOT / "deploy" / "modelway-ci"
LIMITED = GOOD.replace("routes: [{", "routes: [{policies: [{max_body: 1MB}], ")


needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="it compares commits of git")


def git(folder: Path, *words: str) -> str:
    user = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    return subprocess.check_output(["git", *user, *words], cwd=folder, text=True).strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose config has a limit, and the command on the path."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet")
    (folder / "shop.yaml").write_text(DOCUMENT)
    (folder / "gateway.yaml").write_text(LIMITED)
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "one")
    return folder


def run(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    commands = folder.parent / "bin"
    commands.mkdir()
    program = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {ROOT}/modelway.py "$@"\n'
    (commands / "modelway").write_text(program)
    (commands / "modelway").chmod(0o755)
    environment = os.environ | {
        "PATH": f"{commands}:{os.environ['PATH']}",
        "MODELWAY_COMMENT": str(folder.parent / "comment.md"),
        "MODELWAY_BASE": git(folder, "rev-parse", "HEAD"),
        **variables,
    }
    return subprocess.run(
        [SCRIPT], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@needs_git
def test_what_is_weaker_fails_with_an_annotation_and_a_comment(repository):
    (repository / "gateway.yaml").write_text(LIMITED.replace("1MB", "2MB"))
    result = run(repository)
    assert (result.returncode, result.stderr) == (1, "")
    assert "gateway.yaml: no problems" in result.stdout
    assert "no test cases" in result.stdout
    assert re.search(r"(?m)^::error file=gateway.yaml,.*title=weaker%3A", result.stdout)
    comment = (repository.parent / "comment.md").read_text("utf-8")
    assert comment.startswith("**modelway diff**: 1 weaker")
    assert "2MB" in comment
    assert git(repository, "worktree", "list").count("\n") == 0


@needs_git
def test_without_a_difference_it_passes(repository):
    result = run(repository)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.endswith("no difference\n")


def commands() -> list[str]:
    """Every command of modelway in the files for CI."""
    job = yaml.safe_load((ROOT / "deploy/gitlab-ci.yml").read_text("utf-8"))["modelway"]
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"]
    lines = [*job["script"], *(step.get("run", "") for step in action), SCRIPT.read_text("utf-8")]
    return sorted(
        set(re.findall(r"modelway (?:check|test|diff)\b(?: --format \w+)?", "\n".join(lines)))
    )


@pytest.mark.parametrize("command", commands())
def test_its_commands_and_formats_exist(command):
    name, *options = command.split()[1:]
    assert modelway(name, *options, "--help").exit_code == 0


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_line_for_completion_prints_a_script(shell):
    environment = os.environ | {"_MODELWAY_COMPLETE": f"{shell}_source"}
    code = "import sys; from modelway import main; sys.argv[0] = 'modelway'; main()"
    script = subprocess.check_output([sys.executable, "-c", code], env=environment, text=True)
    assert "_MODELWAY_COMPLETE=" in script
