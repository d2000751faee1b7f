"""The manual of the problem codes: one file `MWnnn.md` per code in this folder, with a title, the
meaning, a wrong example and the corrected one.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

_FOLDER = Path(__file__).resolve().parent


class Explanation(Struct, frozen=True):
    """The manual of a code, in Markdown; the title is its first line without `# MWnnn: `."""

    code: str
    title: str
    text: str


def codes() -> list[str]:
    """The codes that have a manual."""
    return sorted(path.stem for path in _FOLDER.glob("MW*.md"))


def explanation(code: str) -> Explanation | None:
    """The manual of a code, None for an unknown one."""
    if code not in codes():
        return None
    text = (_FOLDER / f"{code}.md").read_text(encoding="utf-8")
    return Explanation(code, text.partition("\n")[0].removeprefix(f"# {code}: "), text)
