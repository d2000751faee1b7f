"""Every link of every page leads to a file of the repository, and to a heading of it.

`test_site.py` follows the links of the site; these are those that a reader of the repository sees.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.blocks import PAGES
from tests.support.paths import ROOT

FILES = [file for pattern in (*PAGES, "examples/**/*.md") for file in sorted(ROOT.glob(pattern))]
_FENCE = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def anchors(text: str) -> set[str]:
    """The anchors of the headings, as GitHub and the site make them."""
    words = (re.sub(r"[^\w\- ]", "", h.lower()).strip() for h in _HEADING.findall(text))
    return {re.sub(r" ", "-", heading) for heading in words}


def broken(file: Path, text: str) -> list[str]:
    """The links to other files, and to headings, that there are not."""
    found = []
    for link in _LINK.findall(_FENCE.sub("", text)):
        path, _, anchor = link.partition("#")
        if re.match(r"https?:|mailto:", link):
            continue
        target = (file.parent / path).resolve()
        if not target.exists():
            found.append(link)
        elif anchor:
            page = target.read_text("utf-8") if path else text
            found += [] if anchor in anchors(_FENCE.sub("", page)) else [link]
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_no_link_is_broken(file):
    assert broken(file, file.read_text("utf-8")) == []


def test_a_broken_link_is_found():
    text = (
        "[a](README.md) [b](no.md) [c](README.md#no) [d](#here) [e](#there) [f](no.md#x)\n# Here\n"
    )
    assert broken(ROOT / "x.md", text) == ["no.md", "README.md#no", "#there", "no.md#x"]
