"""The blocks of code of all pages, each with its place.

A block that is a file says so in its fence: ```yaml title="gateway.yaml". GitHub ignores the title,
the site shows it, and would take a fence with other words behind the language for prose.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.support.paths import ROOT

PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "docs/**/*.md")
_FENCE = re.compile(r"^( *)```([^\n`]*)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
_INFO = re.compile(r'(?P<language>\w*)(?: title="(?P<name>[^"]+)")?')


@dataclass(frozen=True)
class Block:
    """A block: the page, its line, the language, the name of a file if it is one, and its text."""

    page: str
    line: int
    language: str
    name: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    def commands(self) -> list[str]:
        """The commands of a shell, each in one line, without comments."""
        lines = self.text.replace("\\\n", " ").splitlines()
        return [re.split(r"\s+# |\s{3,}# ?", line)[0].strip() for line in lines]


def blocks_of(page: str, text: str) -> list[Block]:
    """The blocks of a page."""
    result = []
    for match in _FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 2
        info = _INFO.fullmatch(match[2])
        assert info is not None, f'{page}:{line - 1}: write ```language title="file"'
        result.append(Block(page, line, info["language"], info["name"] or "", match[3]))
    return result


def scripts(page: Path) -> list[str]:
    """The blocks of commands of a page, in order."""
    return [b.text for b in blocks_of(page.name, page.read_text("utf-8")) if b.language == "sh"]


def blocks() -> list[Block]:
    """The blocks of all pages."""
    files = [file for pattern in PAGES for file in sorted(ROOT.glob(pattern))]
    return [
        block
        for file in files
        for block in blocks_of(str(file.relative_to(ROOT)), file.read_text("utf-8"))
    ]


def block(page: str, beginning: str) -> Block:
    """The only block of a page with that beginning."""
    (only,) = (b for b in blocks() if b.page == page and b.text.startswith(beginning))
    return only
