"""The documentation site builds without a warning, and every link in it leads somewhere."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.support.paths import ROOT

PAGES = sorted(page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md"))


class Page(HTMLParser):
    """The links of a page, and the ids that links may name."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value is not None:
                self.links.append(value)
            elif name == "id" and value is not None:
                self.ids.add(value)


@cache
def target_of(folder: Path, path: str) -> tuple[Path, bool]:
    """The file that a link names, and whether it exists. Every page has those of the side bar."""
    target = (folder / unquote(path)).resolve()
    return target, target.exists()


def broken(site: Path) -> Iterator[str]:
    """The links to a page, a file or an anchor that the site does not have."""
    pages = {file: Page(file.read_text("utf-8")) for file in sorted(site.rglob("*.html"))}
    for file, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or file.name == "404.html":
                continue
            target, exists = target_of(file.parent, parts.path) if parts.path else (file, True)
            ids = pages[target].ids if target in pages else {parts.fragment}
            if not exists or (parts.fragment and parts.fragment not in ids):
                yield f"{file.relative_to(site)}: {link}"


def test_every_page_is_built_and_no_link_is_broken(site):
    assert [page for page in PAGES if not (site / page.with_suffix(".html")).is_file()] == []
    assert list(broken(site)) == []


def test_the_site_loads_nothing_from_elsewhere(site):
    text = (site / "index.html").read_text("utf-8")
    outside = [link for link in Page(text).links if urlsplit(link).netloc]
    assert outside == ["https://zensical.org/"]


def test_a_broken_link_is_found(tmp_path):
    (tmp_path / "a.html").write_text('<p id="x"><a href="b.html#y"><a href="#x"><img src="c.png">')
    (tmp_path / "b.html").write_text('<p id="z">')
    assert list(broken(tmp_path)) == ["a.html: b.html#y", "a.html: c.png"]


def test_every_page_is_in_the_navigation():
    def pages(entry) -> Iterator[str]:
        if isinstance(entry, str):
            yield entry
        else:
            for part in entry.values() if isinstance(entry, dict) else entry:
                yield from pages(part)

    nav = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]["nav"]
    assert sorted(pages(nav)) == sorted(map(str, PAGES))
