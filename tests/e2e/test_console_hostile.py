"""What a page shows of others is text: names, titles, errors, who is signed in. No script runs, and
nothing is fetched from elsewhere. Answers of models, documents, tools and formulas have tests of
their own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.browser import CHROMIUM
from tests.support.driver import Driver
from tests.support.pages import LAST, chat, choose, enter, forget
from tests.support.recording import ask, request
from tests.support.running import ALL, Platform

pytestmark = pytest.mark.skipif(
    not CHROMIUM, reason="no Chromium here; `apt-get install chromium` brings one"
)

BAD = "\"'><img src=//a.test/x onerror=alert(1)><script>alert(2)</script>"
NAMES = (
    *("name", "title", "model", "team", "label", "of", "what", "message", "reason", "token"),
    *("operation", "upstream", "target", "limit", "customer", "owner", "client", "code", "kind"),
)
"""The members of the pages' data that somebody else chooses."""
SPOIL = f"""
const [bad, names, get] = [{json.dumps(BAD)}, {json.dumps(NAMES)}, fetch];
const spoil = (value, name) => {{
  if (typeof value === 'string') return names.includes(name) ? value + bad : value;
  if (Array.isArray(value)) return value.map((each) => spoil(each, name));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, spoil(each, key)]));
}};
window.fetch = async (address, ...rest) => {{
  if (String(address).endsWith('/console/session'))
    return Response.json({{sign_in: '/', caller: {{name: bad, team: bad, expires: 9e9}}}});
  const response = await get(address, ...rest);
  if (!response.headers.get('content-type')?.startsWith('application/json')) return response;
  return Response.json(spoil(await response.json()), {{status: response.status}});
}};
new MutationObserver((_, observer) => {{
  if (!document.head) return;
  observer.disconnect();
  document.head.insertAdjacentHTML('beforeend', '<meta name="sign-in" content="/console/session">');
}}).observe(document, {{childList: true, subtree: true}});
"""
"""Puts BAD behind each of these in the data that a page loads, and signs somebody in as BAD."""
ACTIVE = (
    "document.querySelectorAll('img[onerror], img[src*=\"a.test\"], script:not([src]), iframe')"
    ".length"
)
ELSEWHERE = (
    "performance.getEntriesByType('resource').map(({name}) => name)"
    ".filter((name) => !name.startsWith(location.origin + '/'))"
)


@contextmanager
def spoiled(page: Driver) -> Iterator[None]:
    added = page.command("Page.addScriptToEvaluateOnNewDocument", source=SPOIL)
    try:
        yield
    finally:
        page.command("Page.removeScriptToEvaluateOnNewDocument", **added)


def assert_text_only(page: Driver, selector: str) -> None:
    """The element shows BAD, and the page runs and loads nothing of it."""
    element = f"document.querySelector({json.dumps(selector)})"
    page.until(f"{element}?.textContent.includes({json.dumps(BAD)})")
    assert page.run(ACTIVE) == 0
    assert page.run(ELSEWHERE) == []
    assert not [error for error in page.errors if "responded with a status of" not in error]


def test_names_in_the_playground_are_text(page: Driver, console: Platform) -> None:
    with spoiled(page):
        enter(page, console.url)
        assert_text_only(page, "#session")
        assert_text_only(page, "#token-status")
        page.run("document.getElementById('model').focus()")
        page.press("ArrowDown")
        assert_text_only(page, ".popup")


def test_an_error_of_an_upstream_is_text(page: Driver, console: Platform) -> None:
    with spoiled(page):
        enter(page, console.url)
        page.click("#stream")
        choose(page, "fault-status-503")
        chat(page, "hello")
        assert_text_only(page, ".turn.model .problem")
        assert page.run(f"{LAST}.ariaLabel.includes('fault-status-503')")


def test_names_on_the_page_of_usage_are_text(page: Driver, console: Platform) -> None:
    forget(page, console.url)
    with spoiled(page):
        page.open(console.url + "/console/usage")
        page.fill("token", ALL)
        page.click("#check")
        for part in ("#session", "#limits", "#of", "#agents"):
            assert_text_only(page, part)


def test_names_on_the_page_of_operations_are_text(page: Driver, console: Platform) -> None:
    assert ask(console.port, request("/v1/models")).status == 401
    with spoiled(page):
        page.open(f"http://127.0.0.1:{console.gateway.telemetry}/operations")
        assert_text_only(page, '[aria-label="Errors by kind"]')
