"""The header that all pages share."""

import falcon.testing
import pytest

from engine.app.build import build
from engine.config.console import HOME, PLAYGROUND, REFERENCE
from engine.console.navigation import HEADER, header
from tests.console.conftest import planned


@pytest.mark.parametrize(
    ("page", "links"),
    [
        (HOME, ["./", "./", "console/playground", "console/usage", "docs"]),
        (PLAYGROUND, ["../", "../", "../console/playground", "../console/usage", "../docs"]),
        (REFERENCE, ["./", "./", "console/playground", "console/usage", "docs"]),
    ],
)
def test_links_are_relative_to_the_page(shipped, page, links):
    parts = header(shipped, page).split('href="')[1:]
    assert [part.split('"')[0] for part in parts] == links
    assert header(shipped, page).count('aria-current="page"') == 1


@pytest.mark.parametrize("path", ["/", "/console/playground", "/docs"])
def test_every_page_has_it(text, path):
    client = falcon.testing.TestClient(build(planned(text)))
    html = client.simulate_get(path).text
    assert html.count('<header class="bar">') == 1
    assert HEADER.decode() not in html
