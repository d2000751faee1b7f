"""docs/how-to/sign-in.md in a real browser, with a real OpenID Connect provider: a person signs in,
uses the pages without a token, and signs out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.support.axe import looks, violations
from tests.support.browser import CHROMIUM
from tests.support.driver import Driver
from tests.support.oidc_provider import IS_INSTALLED, PEOPLE, oidc_provider, sign_in_page
from tests.support.pages import PLAYGROUND, chat
from tests.support.paths import ROOT
from tests.support.recording import Recorder, answer, recorder
from tests.support.running import TOKENS, Running, gateway
from tests.support.screenshots import same, taken
from tests.support.small import COMPLETION, project

pytestmark = [
    pytest.mark.skipif(not IS_INSTALLED, reason="oidc-provider of npm is not installed"),
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium; `apt-get install chromium` brings one"),
]

MORE = (
    """
mcp: {{tools: {{path: /mcp/tools, operations: [small.chat]}}}}
teams: {{search: {{rate: 100/1h}}}}
"""
    + PEOPLE
)
SIGNED_IN = "document.querySelector('#session')?.innerText.includes('Signed in as')"


@dataclass
class Site:
    running: Running
    upstream: Recorder


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("sign-in")
    with oidc_provider() as issuer, recorder() as upstream:
        upstream.speak = answer(json.dumps(COMPLETION).encode())
        text = project(
            folder, upstream.url, {"chat": "[]"}, more=MORE.format(issuer=issuer), workers=1
        )
        text = text.replace("workers: 1}", 'workers: 1, base_url: "http://{listen}"}')
        text = text.replace(
            "specs: {", f'specs: {{modelway: {{document: "{ROOT}/openapi/modelway.yaml"}}, '
        )
        text = text.replace(
            TOKENS, f"  - {{operation: modelway.getUsage, answer: usage}}\n{TOKENS}"
        )
        with gateway(folder, text) as running:
            yield Site(running, upstream)


@pytest.fixture
def front(page: Driver, site: Site) -> Iterator[Site]:
    """The site, in a browser without cookies."""
    page.command("Network.clearBrowserCookies")
    yield site
    page.command("Network.clearBrowserCookies")


def enter(page: Driver, site: Site, name: str = "ada", path: str = PLAYGROUND) -> None:
    """Open a page and sign in."""
    page.open(site.running.url + path)
    page.until("document.querySelector('#session button') !== null")
    page.click("#session button")
    sign_in_page(page, name)


def test_a_person_uses_the_pages_without_a_token(page: Driver, front: Site) -> None:
    enter(page, front)
    page.until(SIGNED_IN)
    assert "sso:ada, team search" in page.text("#session")
    page.until("document.querySelector('#token-status .good') !== null")
    assert page.text("#empty li").strip() == "You are signed in: no token is needed."
    assert page.run("location.pathname") == PLAYGROUND
    assert "hi" in chat(page, "Hello")
    headers = {name.lower() for name, _ in front.upstream.last.headers}
    assert not headers & {"cookie", "sec-fetch-site"}
    page.open(front.running.url + "/console/tools")
    page.until("document.getElementById('count').textContent === '1 of 1 tools'")
    assert page.text("#empty li").strip() == "You are signed in: no token is needed."
    limit = page.run("fetch('/v1/usage').then((r) => r.json()).then((u) => u.limits[0].by)")
    assert limit == {"team": "search"}
    cookies = page.command("Network.getCookies")["cookies"]
    session = next(c for c in cookies if c["name"] == "modelway-session")
    assert (session["httpOnly"], session["sameSite"]) == (True, "Strict")
    assert "sign-in" not in str([cookie["name"] for cookie in cookies])
    page.open(front.running.url + "/console/usage")
    page.until("document.querySelector('#limits li') !== null")
    page.assert_no_errors()
    same(page, "console-sign-in.png", taken(page))


def test_another_page_gets_nothing_of_the_session(page: Driver, front: Site) -> None:
    """A page of another site, here another host name of this machine."""
    enter(page, front)
    page.until(SIGNED_IN)
    url = front.running.url
    page.open(url.replace("127.0.0.1", "localhost") + "/console/playground")
    attack = f"fetch('{url}/v1/usage', {{credentials: 'include', mode: 'no-cors'}})"
    assert page.run(f"{attack}.then((r) => r.type, () => 'refused')") in ("opaque", "refused")
    page.open(f"{url}/v1/usage")  # a link
    assert "invalid_api_key" in page.run("document.body.innerText")


def test_signing_out_ends_the_session(page: Driver, front: Site) -> None:
    enter(page, front)
    page.until(SIGNED_IN)
    page.click("#session button")
    page.until("document.querySelector('form[action*=\"session/end\"]') !== null")
    page.click("button[name=logout], button[value=yes], form button")
    page.until(f"location.href === '{front.running.url}/'")
    assert page.run("fetch('/v1/usage').then((r) => r.status)") == 401


def test_a_person_who_is_not_let_in_reads_why(page: Driver, front: Site, axe: str) -> None:
    enter(page, front, "eve")
    page.until("document.querySelector('[role=alert]') !== null")
    assert "lacks a claim that is required" in page.text("[role=alert]")
    assert violations(page, axe) == []


@pytest.mark.parametrize(("theme", "width"), looks(2))
def test_the_pages_of_a_person_pass_axe(
    page: Driver, front: Site, axe: str, theme: str, width: int
) -> None:
    enter(page, front)
    page.until(SIGNED_IN)
    for path in (PLAYGROUND, "/console/tools"):
        page.open(front.running.url + path, theme=theme, width=width)
        page.until(SIGNED_IN)
        page.until("document.querySelector('#token-status .good') !== null")
        if width < 600:
            page.click("#settings-toggle")
        assert violations(page, axe) == []
        assert page.run("document.documentElement.scrollWidth <= innerWidth")
