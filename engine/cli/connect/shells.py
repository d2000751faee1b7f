"""How shells set variables, and the files in which they do so at their start."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from engine.config.agents import export_lines


class Shell(Struct, frozen=True):
    """A shell: `export` sets a variable for the programs that it starts, `profile` is the file that
    it reads at its start, by the home folder and the environment."""

    name: str
    export: str
    profile: Callable[[Path, Mapping[str, str]], Path]

    def lines(self, variables: Mapping[str, str]) -> str:
        """The lines that set the variables."""
        return export_lines(variables, self.export)


def _fish(home: Path, environ: Mapping[str, str]) -> Path:
    return folder_of(environ, "XDG_CONFIG_HOME", home / ".config") / "fish" / "config.fish"


SHELLS = {
    shell.name: shell
    for shell in (
        Shell("bash", "export {name}={value}\n", lambda home, environ: home / ".bashrc"),
        Shell(
            "zsh",
            "export {name}={value}\n",
            lambda home, environ: folder_of(environ, "ZDOTDIR", home) / ".zshrc",
        ),
        Shell("fish", "set -gx {name} {value}\n", _fish),
    )
}


def folder_of(environ: Mapping[str, str], variable: str, default: Path) -> Path:
    """The folder that a variable names. A relative one is none: the XDG Base Directory
    Specification says so, and another working folder would make it another."""
    folder = Path(environ.get(variable, ""))
    return folder if folder.is_absolute() else default
