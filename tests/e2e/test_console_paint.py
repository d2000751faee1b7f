"""What the first paint of each page waits for, in a real browser with an empty cache."""

from __future__ import annotations

import pytest

from tests.support.browser import CHROMIUM
from tests.support.driver import Driver
from tests.support.pages import PLAYGROUND
from tests.support.running import Platform
from tests.support.swagger_ui import IS_INSTALLED

pytestmark = pytest.mark.skipif(
    not CHROMIUM, reason="no Chromium here; `apt-get install chromium` brings one"
)

PAGES = ("/", PLAYGROUND, "/docs")
needs_swagger_ui = pytest.mark.skipif(not IS_INSTALLED, reason="Swagger UI is not installed")
_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
_BLOCKING = (
    "performance.getEntriesByType('resource')"
    ".filter((node) => node.renderBlockingStatus === 'blocking')"
)


def cold(page: Driver, url: str) -> None:
    """Open a page with an empty cache, up to its first paint."""
    page.command("Network.clearBrowserCache")
    page.open(url)
    page.until(_PAINT)


@pytest.mark.parametrize("path", PAGES)
def test_one_round_trip_behind_the_page_blocks_the_first_paint(
    page: Driver, console: Platform, path: str
) -> None:
    cold(page, console.url + path)
    initiators = page.run(f"{_BLOCKING}.map((node) => node.initiatorType)")
    assert 1 <= len(initiators) <= 4
    assert set(initiators) <= {"link", "script"}, "of the page itself, not of a style sheet"


@pytest.mark.parametrize("path", PAGES)
def test_few_bytes_block_the_first_paint(page: Driver, console: Platform, path: str) -> None:
    cold(page, console.url + path)
    size = page.run(f"{_BLOCKING}.reduce((sum, node) => sum + node.decodedBodySize, 0)")
    assert 1000 < size < 15_000


@needs_swagger_ui
def test_swagger_ui_loads_after_the_first_paint(page: Driver, console: Platform) -> None:
    page.open("about:blank")  # else the browser only scrolls to the fragment
    cold(page, console.url + "/docs#openai.createEmbedding")
    page.until("document.querySelectorAll('.opblock').length > 15")
    parts = "[...document.querySelectorAll('head > :is(link[rel=stylesheet], script)')]"
    names = page.run(f"{parts}.map((node) => (node.href ?? node.src).split('/').at(-1))")
    assert names.index("swagger-ui.css") < names.index("style.css") < names.index("docs.css")
    page.assert_no_errors()
