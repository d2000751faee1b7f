"""How-to pages: the files and the commands that a page shows."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from tests.support.blocks import blocks_of

_VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True)
class Command:
    """A command as a page shows it, and the lines that it prints; `...` stands for any lines."""

    words: list[str]
    output: list[str]

    def prints(self, text: str) -> bool:
        """Whether that is what the page shows."""
        lines = (r"(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in self.output)
        return re.fullmatch("".join(lines), text) is not None


@dataclass(frozen=True)
class Page:
    """A how-to page: files by name, commands in order, and the variables that the files need."""

    files: dict[str, str]
    commands: list[Command]
    variables: frozenset[str]

    @staticmethod
    def read(text: str) -> Page:
        """The page of a Markdown text."""
        blocks = blocks_of("page", text)
        files = {block.name: block.text for block in blocks if block.name}
        transcript = "".join(block.text for block in blocks if block.language == "console")
        variables = {name for body in files.values() for name in _VARIABLE.findall(body)}
        return Page(files, _commands(transcript), frozenset(variables))

    def write(self, folder: Path) -> None:
        """Write its files below a folder."""
        for name, body in self.files.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(body, "utf-8")


def _commands(text: str) -> list[Command]:
    commands: list[Command] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            commands.append(Command(shlex.split(line[2:]), []))
        elif commands:
            commands[-1].output.append(line.rstrip())
    return commands
