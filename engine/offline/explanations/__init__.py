"""The manual of every problem code: `MWnnn.md` beside this file, one code each.

A title, what it means, an example that is wrong and the same mended.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Explanation:
    """One code's manual, in Markdown; the title is its first line without `# MWnnn: `."""

    code: str
    title: str
    text: str


def codes() -> list[str]:
    """Every code that has a manual."""
    return sorted(path.stem for path in _FOLDER.glob("MW*.md"))


def explanation(code: str) -> Explanation | None:
    """The manual of a code, or None for one that there is not."""
    if code not in codes():
        return None
    text = (_FOLDER / f"{code}.md").read_text(encoding="utf-8")
    return Explanation(code, text.partition("\n")[0].removeprefix(f"# {code}: "), text)
