"""The time to the first paint of each page, in a real browser with an empty cache."""

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
LOADS = 40
"""One is enough on a quiet machine."""

_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
_BLOCKING = (
    "performance.getEntriesByType('resource')"
    ".filter((node) => node.renderBlockingStatus === 'blocking')"
    ".reduce((sum, node) => sum + node.decodedBodySize, 0)"
)


def cold(page: Driver, url: str) -> float:
    """Open a page with an empty cache; milliseconds to its first paint."""
    page.command("Network.clearBrowserCache")
    page.open(url)
    return float(page.until(_PAINT))


@pytest.mark.parametrize("path", PAGES)
def test_the_first_paint_is_fast(page: Driver, console: Platform, path: str) -> None:
    assert any(cold(page, console.url + path) < SOON for _ in range(LOADS))


@pytest.mark.parametrize("path", PAGES)
def test_few_bytes_block_the_first_paint(page: Driver, console: Platform, path: str) -> None:
    cold(page, console.url + path)
    assert 1000 < page.run(_BLOCKING) < 15_000


def test_swagger_ui_loads_after_the_first_paint(page: Driver, console: Platform) -> None:
    cold(page, console.url + "/docs")
    page.until("document.querySelectorAll('.opblock').length > 15")
    parts = "[...document.querySelectorAll('head > :is(link[rel=stylesheet], script)')]"
    names = page.run(f"{parts}.map((node) => (node.href ?? node.src).split('/').at(-1))")
    assert names.index("swagger-ui.css") < names.index("style.css") < names.index("docs.css")
    page.assert_no_errors()
