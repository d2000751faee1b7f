"""The built site shows every page as GitHub does: blocks as blocks, tables as tables, and nothing
wider than the screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.browser import CHROMIUM, browser
from tests.support.driver import Driver
from tests.support.each import each
from tests.support.paths import ROOT
from tests.support.site import Article, expected, longest_word
from tests.support.thorough import some

PAGES = sorted(str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md"))


def _width(page: str) -> tuple[bool, int]:
    return page == "index.md", longest_word((ROOT / "docs" / page).read_text("utf-8"))


WIDEST = sorted(PAGES, key=_width, reverse=True)
"""The pages, the home page first and then those that are most likely to be too wide."""
WIDTHS = (1440, 390)
"""The widths of a desktop's window and of a telephone."""

_WIDER = """
[...document.querySelectorAll('*')]
  .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
  .slice(0, 3).map((element) => element.outerHTML.slice(0, 120))
"""


@each("page", PAGES)
def test_a_page_of_the_site_has_what_its_markdown_has(page: str, site: Path) -> None:
    """Each fence is a block, each item an item, each cell a cell, and no `<word>` an element."""
    article = Article((site / page).with_suffix(".html").read_text("utf-8"))
    counts, rows = expected((ROOT / "docs" / page).read_text("utf-8"))
    assert (article.counts, article.rows) == (counts, rows)
    assert "```" not in article.prose
    assert article.unknown == set()
    assert len(article.ids) == len(set(article.ids))


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("```yaml x.yaml\na: 1\n```", "<p>```yaml x.yaml a: 1 ```</p>"),
        ("Words:\n- a\n- b", "<p>Words: - a - b</p>"),
        ("| a |\n|---|\n| x \\| y |", "<table><tr><th>a</th></tr><tr><td>x</td><td>y</td></tr>"),
    ],
)
def test_what_the_generator_does_not_understand_is_found(markdown: str, html: str) -> None:
    article = Article(f"<article>{html}</article>")
    assert (article.counts, article.rows) != expected(markdown)


def test_a_placeholder_that_became_an_element_is_found() -> None:
    assert Article("<article><p>known as <spec></article>").unknown == {"spec"}


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    if not CHROMIUM:
        pytest.skip("no Chromium here; `apt-get install chromium` brings one")
    with browser(tmp_path_factory.mktemp("browser"), "about:blank") as page:
        yield Driver(page)


@each("page", some(WIDEST, 16))
def test_no_page_is_wider_than_a_telephone(page: str, site: Path, window: Driver) -> None:
    """Without the site's scripts, which take most of the time and change no width."""
    window.open((site / page).with_suffix(".html").as_uri(), width=WIDTHS[-1], script=False)
    assert_fits(window, WIDTHS[-1])


@each("page", some(WIDEST, 4))
def test_no_page_is_wider_than_the_screen(page: str, site: Path, window: Driver) -> None:
    window.open((site / page).with_suffix(".html").as_uri(), width=WIDTHS[0])
    for width in WIDTHS:
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        window.command("Emulation.setDeviceMetricsOverride", **size)
        assert_fits(window, width)


def assert_fits(window: Driver, width: int) -> None:
    wide = window.run("document.documentElement.scrollWidth > innerWidth")
    assert not wide, (width, window.run(_WIDER))
    assert window.run("document.querySelector('article h1').getBoundingClientRect().width") > 0


def test_a_page_that_is_too_wide_is_found(tmp_path: Path, window: Driver) -> None:
    (tmp_path / "wide.html").write_text("<article><p style='width: 2000px'>x")
    window.open((tmp_path / "wide.html").as_uri(), width=390)
    assert window.run("document.documentElement.scrollWidth > innerWidth")
