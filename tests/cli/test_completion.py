"""`modelway completion`: scripts that shells accept, and what they complete."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.support.commands import modelway
from tests.support.each import each
from tests.support.paths import ROOT


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_accepts_its_script(shell, tmp_path):
    script = modelway("completion", shell).stdout
    assert "_MODELWAY_COMPLETE" in script
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "script").write_text(script)
    subprocess.run([shell, "-n", str(tmp_path / "script")], check=True)


def completed(*words):
    """The completions of the last word."""
    variables = {
        "_MODELWAY_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(("modelway", *words)),
        "COMP_CWORD": str(len(words)),
    }
    program = "import sys; sys.argv[0] = 'modelway'; from engine.cli import main; main()"
    command = [sys.executable, "-c", program]
    output = subprocess.check_output(command, env=os.environ | variables, cwd=ROOT, text=True)
    return [line.partition(",")[2] for line in output.splitlines()]


@each(
    ("words", "expected"),
    [
        (["chec"], ["check"]),
        (["token", "re"], ["revoke"]),
        (["token", "new", "--mo"], ["--models"]),
        (["completion", "z"], ["zsh"]),
        (["check", "--format", "gitl"], ["gitlab"]),
    ],
)
def test_commands_options_and_values_are_completed(words, expected):
    assert completed(*words) == expected


def test_another_shell_is_refused():
    assert modelway("completion", "csh").exit_code == 2
