"""Builds the site; what a page of Markdown holds, as GitHub reads it, and what its page of the
built site shows."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.support.paths import ROOT

_FENCE = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)
_ROW = re.compile(r"^ *\|.*\|$")
_DELIMITER = re.compile(r"^ *\|(?: *:?-+:? *\|)+$")
_LIST_ITEM = re.compile(r"^ *(?:[-*+]|\d+\.) +\S")
_HEADING = re.compile(r"^(#{1,6}) ")
_COUNTED = ("pre", "li", "h1", "h2", "h3", "h4", "h5", "h6", "table", "tr", "blockquote", "img")
_TEXT = {
    "a",
    "b",
    "br",
    "code",
    "del",
    "em",
    "i",
    "img",
    "kbd",
    "s",
    "small",
    "span",
    "strong",
    "sub",
}
_BLOCKS = {
    "article",
    "aside",
    "blockquote",
    "details",
    "div",
    "hr",
    "li",
    "nav",
    "ol",
    "p",
    "pre",
    "ul",
}
_HTML = {
    *(*_TEXT, *_BLOCKS, "h1", "h2", "h3", "h4", "h5", "h6", "summary", "sup"),
    *("table", "tbody", "td", "th", "thead", "tr", "button", "svg", "path", "rect"),
}
"""The elements that the generator, and Markdown, write within an article."""


class Article(HTMLParser):
    """The article of a built page: how often it has each element of `_COUNTED`, the cells of each
    row of its tables, its `prose`, which is all text outside <pre>, and its `unknown` elements."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()
        self.rows: list[int] = []
        self.unknown: set[str] = set()
        self.ids: list[str] = []
        self._prose: list[str] = []
        self._within: Counter[str] = Counter()
        self.feed(html)

    @property
    def prose(self) -> str:
        return "".join(self._prose)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._within[tag] += tag in ("article", "pre", "nav")
        if not self._within["article"]:
            return
        self.ids += [value for name, value in attrs if name == "id" and value]
        if tag not in _HTML:
            self.unknown.add(tag)
        if tag in _COUNTED:
            self.counts[tag] += 1
        if tag == "tr":
            self.rows.append(0)
        elif tag in ("td", "th"):
            self.rows[-1] += 1

    def handle_endtag(self, tag: str) -> None:
        self._within[tag] -= tag in ("article", "pre", "nav")

    def handle_data(self, data: str) -> None:
        if self._within["article"] and not self._within["pre"]:
            self._prose.append(data)


def expected(markdown: str) -> tuple[Counter[str], list[int]]:
    """The counts and the rows of the article of a page."""
    counts: Counter[str] = Counter()
    counts["pre"] = len(_FENCE.findall(markdown))
    lines = _FENCE.sub("", markdown).splitlines()
    rows = []
    for before, line in zip(["", *lines], lines, strict=False):
        if _DELIMITER.match(line):
            counts["table"] += 1
        elif _ROW.match(line):
            rows.append(len(re.findall(r"(?<!\\)\|", line)) - 1)
        elif heading := _HEADING.match(line):
            counts[f"h{len(heading[1])}"] += 1
        elif _LIST_ITEM.match(line):
            counts["li"] += 1
        elif line.startswith(">") and not before.startswith(">"):
            counts["blockquote"] += 1
    counts["img"] = len(re.findall(r"!\[", "\n".join(lines)))
    counts["tr"] = len(rows)
    return +counts, rows


def longest_word(markdown: str) -> int:
    """The length of the longest word outside of blocks. It is what makes a page too wide: blocks,
    tables and pictures scroll or shrink."""
    return max(map(len, _FENCE.sub("", markdown).split()))


def build(folder: Path) -> Path:
    """Build the site of the documentation in a folder. Skips the test without the generator."""
    if importlib.util.find_spec("zensical") is None:
        pytest.skip("the extra `docs` is not installed")
    shutil.copytree(ROOT / "docs", folder / "docs")
    (folder / "zensical.toml").write_text((ROOT / "zensical.toml").read_text("utf-8"))
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return folder / "build" / "site"
