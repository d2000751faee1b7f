"""How soon a page shows something, in a real browser that has nothing of it yet."""

from __future__ import annotations

import pytest

from tests.support.browser import CHROMIUM
from tests.support.driver import Driver
from tests.support.pages import PLAYGROUND
from tests.support.running import Platform

pytestmark = pytest.mark.skipif(
    not CHROMIUM, reason="no Chromium here; `apt-get install chromium` brings one"
)

PAGES = ("/", PLAYGROUND, "/docs")
SOON = 300
"""Milliseconds."""
LOADS = 7

_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
_BLOCKING = (
    "performance.getEntriesByType('resource')"
    ".filter((one) => one.renderBlockingStatus === 'blocking')"
    ".reduce((sum, one) => sum + one.decodedBodySize, 0)"
)


def cold(page: Driver, url: str) -> float:
    """Open a page with nothing of it in the cache; milliseconds until it showed something."""
    page.command("Network.clearBrowserCache")
    page.open(url)
    return float(page.until(_PAINT))


@pytest.mark.parametrize("path", PAGES)
def test_a_page_paints_soon(page: Driver, console: Platform, path: str) -> None:
    """The quickest of a few loads: how busy this machine is besides is not the page's doing."""
    assert min(cold(page, console.url + path) for _ in range(LOADS)) < SOON


@pytest.mark.parametrize("path", PAGES)
def test_little_stands_before_the_first_paint(page: Driver, console: Platform, path: str) -> None:
    cold(page, console.url + path)
    assert 1000 < page.run(_BLOCKING) < 15_000


def test_the_reference_is_read_after_it(page: Driver, console: Platform) -> None:
    cold(page, console.url + "/docs")
    page.until("document.querySelectorAll('.opblock').length > 15")
    parts = "[...document.querySelectorAll('head > :is(link[rel=stylesheet], script)')]"
    names = page.run(f"{parts}.map((one) => (one.href ?? one.src).split('/').at(-1))")
    assert names.index("swagger-ui.css") < names.index("style.css") < names.index("docs.css")
    page.sound()
