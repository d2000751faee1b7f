"""The fragments of changes/ as a section of CHANGELOG.md."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

_HEAD = """# Changelog

Changes since the last release are in `changes/`, one file each.
"""
SUBJECTS = {
    "incompatible": "Incompatible changes",
    "overview": "Overview",
    "translation": "Translation between vendors",
    "upstreams": "Models, upstreams and credentials",
    "limits": "Tokens, limits and the ledger",
    "documents": "Documents, validation and edits",
    "commands": "Config and commands",
    "serving": "Serving requests",
    "telemetry": "Telemetry and web pages",
    "deployment": "Installation, deployment and documentation",
    ".": "Other changes",
}
"""The folders of changes/, in the order of their headings."""
MAX_WORDS = 900
"""The words of a section that is one page, which a user reads before an upgrade."""


def gather(root: Path, version: str, day: date) -> tuple[int, int]:
    """Move all fragments into CHANGELOG.md, under a heading; the number of them and of words."""
    changelog = root / "CHANGELOG.md"
    before = changelog.read_text("utf-8")
    if not before.startswith(_HEAD):
        raise ValueError("CHANGELOG.md must begin with its heading and the sentence about changes/")
    if f"## {version} " in before:
        raise ValueError(f"CHANGELOG.md has {version} already")
    folder = root / "changes"
    fragments = sorted(folder.rglob("*.md"))
    if not fragments:
        raise ValueError("changes/ has no fragment: there is nothing to release")
    unknown = {str(file.parent.relative_to(folder)) for file in fragments} - set(SUBJECTS)
    if unknown:
        folders = ", ".join(subject for subject in SUBJECTS if subject != ".")
        raise ValueError(
            f"changes/{unknown.pop()}/ is no subject: use {folders}, or changes/ itself"
        )
    section = f"\n## {version} ({day})\n"
    for subject, heading in SUBJECTS.items():
        files = sorted((folder / subject).glob("*.md"))
        entries = [entry for file in files for entry in items(file.read_text("utf-8"))]
        if entries:
            section += f"\n### {heading}\n\n" + "".join(f"{entry}\n" for entry in entries)
    changelog.write_text(_HEAD + section + before.removeprefix(_HEAD), "utf-8")
    for file in fragments:
        file.unlink()
    return len(fragments), words(section)


def words(text: str) -> int:
    """How many words a reader sees: no addresses of links, no marks of lists and headings."""
    return len(re.findall(r"\S*\w\S*", re.sub(r"\]\([^)]*\)", "]", text)))


def items(fragment: str) -> Iterator[str]:
    """The paragraphs and list items of a fragment, each as an item of a list."""
    for paragraph in re.split(r"\n\s*\n|\n(?=- )", fragment.strip()):
        lines = paragraph.removeprefix("- ").splitlines()
        yield "\n".join([f"- {lines[0]}", *(f"  {line.strip()}" for line in lines[1:])])
