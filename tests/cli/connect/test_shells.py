"""Variables as shells set them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from engine.cli.connect.shells import SHELLS, folder_of

VARIABLES = {"A_BASE": "http://127.0.0.1:8080/v1", "A_KEY": "$MODELWAY_TOKEN", "A_NAME": "it's"}


@pytest.mark.parametrize("name", sorted(SHELLS))
def test_a_shell_sets_the_variables_for_its_programs(name: str) -> None:
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"no {name} here")
    script = SHELLS[name].lines(VARIABLES) + "env"
    environ = {"MODELWAY_TOKEN": "mw-1", "PATH": "/usr/bin:/bin"}
    result = subprocess.run([program, "-c", script], env=environ, capture_output=True, text=True)
    lines = result.stdout.splitlines()
    for line in ("A_BASE=http://127.0.0.1:8080/v1", "A_KEY=mw-1", "A_NAME=it's"):
        assert line in lines, result.stderr


def test_each_has_a_profile() -> None:
    home = Path("/home/me")
    assert {name: str(shell.profile(home, {})) for name, shell in SHELLS.items()} == {
        "bash": "/home/me/.bashrc",
        "zsh": "/home/me/.zshrc",
        "fish": "/home/me/.config/fish/config.fish",
    }
    assert SHELLS["zsh"].profile(home, {"ZDOTDIR": "/z"}) == Path("/z/.zshrc")
    assert SHELLS["fish"].profile(home, {"XDG_CONFIG_HOME": "/c"}) == Path("/c/fish/config.fish")


@pytest.mark.parametrize(
    ("environ", "folder"),
    [({}, "/h/d"), ({"F": ""}, "/h/d"), ({"F": "d"}, "/h/d"), ({"F": "/x"}, "/x")],
)
def test_a_relative_folder_is_none(environ: dict[str, str], folder: str) -> None:
    assert folder_of(environ, "F", Path("/h/d")) == Path(folder)
