"""Runs a tutorial: writes its files, and runs its commands in one shell, in order."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.blocks import blocks_of
from tests.support.how_to import Command
from tests.support.paths import ROOT
from tests.support.running import warm_process
from tests.support.warm_command import VARIABLE

_END = "-- end of output --"
_COMMAND = ROOT / "tests" / "support" / "warm_command.py"


@dataclass
class Step:
    """A file to write (`name`, `text`), or a command to run and the lines that it prints."""

    text: str
    name: str = ""
    output: tuple[str, ...] = ()


def steps(page: str) -> list[Step]:
    """The files and commands of a page."""
    result: list[Step] = []
    for block in blocks_of("page", page):
        if block.name:
            result.append(Step(block.text, block.name))
        elif block.language == "console":
            for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
                command, *output = part.splitlines()
                result.append(Step(command, output=tuple(output)))
    return result


class Shell:
    """A shell that keeps its folder, its variables and its jobs from command to command."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self._process = subprocess.Popen(
            ["bash", "--norc"],
            cwd=folder,
            env=environment,
            pass_fds=[descriptor()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, command: str) -> str:
        """The output of a command, without the shell's lines about jobs."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{command}\necho; echo '{_END}'\n")
        self._process.stdin.flush()
        lines: list[str] = []
        while (line := self._process.stdout.readline()) != f"{_END}\n":
            assert line, f"the shell ended in: {command}"
            lines.append(line)
        text = "".join(line for line in lines if not re.match(r"\[\d+\]", line))
        return text[:-1] if text.endswith("\n\n") or text == "\n" else text

    def close(self) -> None:
        """End the jobs that still run, then the shell."""
        assert self._process.stdin is not None
        self._process.stdin.write("kill $(jobs -p) 2>/dev/null; wait\n")
        self._process.communicate(timeout=60)


def warm_commands(folder: Path) -> Path:
    """A new folder for the path of programs, `bin` in this one, with the command `modelway` of this
    checkout. It starts warm where it inherits `descriptor()`, which VARIABLE names."""
    program = folder / "bin" / "modelway"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -SEs {_COMMAND} "$@"\n')
    program.chmod(0o755)
    return program.parent


def descriptor() -> int:
    """That of the socket to the process that forks."""
    return warm_process().shells.fileno()


@contextmanager
def shell_in(folder: Path) -> Iterator[Shell]:
    """A shell in `work` below a folder, with the command `modelway` of this checkout, which starts
    warm."""
    commands = warm_commands(folder)
    (folder / "work").mkdir()
    names = ("LANG", "TMPDIR", "HOME", "PYTHONPATH", "XDG_RUNTIME_DIR")
    environment = {name: os.environ[name] for name in names if name in os.environ}
    path = f"{commands}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment |= {"PATH": path, VARIABLE: str(descriptor())}
    shell = Shell(folder / "work", environment)
    try:
        yield shell
    finally:
        shell.close()


def prints(step: Step, output: str) -> bool:
    """Whether a command prints what the page shows."""
    return Command([], list(step.output)).prints(output)
