"""Sign-in to the pages over HTTP, and which addresses take a session in place of a token."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import falcon.testing
import pytest
from msgspec.structs import replace

from engine.app.build import build
from engine.app.services.worker_services import services_of
from engine.callers.sign_in.refusal import ProviderUnavailable
from engine.plan.assembly.make_plan import make_plan
from tests.support.each import each
from tests.support.page_sign_in import BASE, Browser, config
from tests.support.paths import ROOT
from tests.support.running import ALL, TOKENS
from tests.support.signed_tokens import ISSUER
from tests.support.small import project

OWN = {"sec-fetch-site": "same-origin", "sec-fetch-dest": "empty"}
SESSION, FLOW = "__Host-modelway-session", "__Host-modelway-sign-in"
CHAT = {"model": "one", "messages": [{"role": "user", "content": "hello"}]}
HEAD = "mcp:\n  tools: {path: /mcp/tools, operations: [small.chat]}\n"


def text(folder: Path, more: str = "") -> str:
    """A gateway with a chat, usage and tools, and the sign-in of the tests."""
    front = project(folder, "http://127.0.0.1:9", {"chat": "[]"}, more=f"{HEAD}{more}")
    _, _, sections = config().partition("callers:")
    front = front.replace("workers: 2", f'workers: 1, base_url: "{BASE}"')
    front = front.replace(
        "specs: {", f'specs: {{modelway: {{document: "{ROOT}/openapi/modelway.yaml"}}, '
    )
    front = front.replace(TOKENS, f"  - {{operation: modelway.getUsage, answer: usage}}\n{TOKENS}")
    return f"{front.replace('{listen}', '127.0.0.1:0')}\ncallers:{sections}"


def client(folder: Path, browser: Browser | None, front: str) -> falcon.testing.TestClient:
    result = make_plan(folder / "gateway.yaml", {}, front)
    assert result.plan is not None, [str(problem) for problem in result.problems]
    services = services_of(result.plan)
    if browser is not None:
        services = replace(services, sign_in=browser.sign_in)
    return falcon.testing.TestClient(build(result.plan, services))


class Site:
    """A gateway, and a browser that goes there."""

    def __init__(self, folder: Path) -> None:
        self.browser = Browser()
        self.client = client(folder, self.browser, text(folder))

    def fetch(self, path: str, method: str = "GET", **headers: str) -> Any:
        """A request of a page, with the cookies; headers have `_` for `-`."""
        sent = {**OWN, **{name.replace("_", "-"): value for name, value in headers.items()}}
        if self.browser.cookies:
            pairs = (f"{name}={value}" for name, value in self.browser.cookies.items())
            sent.setdefault("cookie", "; ".join(pairs))
        body = json.dumps(CHAT) if "chat" in path else None
        if body:
            sent["content-type"] = "application/json"
        answer = self.client.simulate_request(
            method, path, headers=sent, body=body, extras={"RAW_URI": path}
        )
        for name, cookie in answer.cookies.items():
            self.browser.cookies.pop(name, None)
            if cookie.max_age != 0:
                self.browser.cookies[name] = cookie.value
        return answer

    def enter(self, to: str = "/docs") -> Any:
        """Sign in; the answer of the callback."""
        return self.come_back(self.fetch(f"/console/sign-in?to={to}"))

    def come_back(self, start: Any, **more: str) -> Any:
        """End the sign-in that `start` began; the answer of the callback."""
        assert start.status_code == 303, start.text
        query = dict(pair.split("=") for pair in start.headers["location"].split("?")[1].split("&"))
        self.browser.provider.nonce = query["nonce"]
        back = urlencode({"state": query["state"], "code": "c", "iss": ISSUER, **more})
        return self.fetch(f"/console/sign-in/callback?{back}", sec_fetch_site="cross-site")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_a_person_signs_in_and_comes_back_to_the_page(site: Site) -> None:
    answer = site.enter("/docs")
    assert (answer.status_code, answer.headers["location"]) == (303, f"{BASE}/docs")
    assert [*site.browser.cookies] == [SESSION]
    said = site.fetch("/console/session").json
    assert said["sign_in"] == f"{BASE}/console/sign-in"
    assert (said["caller"]["name"], said["caller"]["team"]) == ("sso:ada@example.com", "search")


def test_the_cookies_are_as_strict_as_they_can_be(site: Site) -> None:
    start = site.fetch("/console/sign-in")
    answer = site.enter()
    for cookie, same_site in ((start.cookies[FLOW], "Lax"), (answer.cookies[SESSION], "Strict")):
        assert (cookie.http_only, cookie.secure, cookie.path) == (True, True, "/")
        assert cookie.domain is None
        assert cookie.same_site == same_site
    assert answer.cookies[SESSION].max_age == 8 * 3600


@each(
    "to",
    [
        "https://evil.example.com/",
        "//evil.example.com",
        "/\\evil.example.com",
        "/console/sign-in",
        "/docs/",
        "/docs%0d%0aset-cookie:%20a=b",
        "@evil.example.com",
        ".evil.example.com",
        "",
    ],
)
def test_another_place_than_a_page_is_not_gone_to(tmp_path: Path, to: str) -> None:
    site = Site(tmp_path)
    assert site.enter(to).headers["location"] == f"{BASE}/"


PLACES = [
    ("GET", "/v1/usage"),
    ("GET", "/console/models.json"),
    ("GET", "/console/tools.json"),
    ("POST", "/v1/chat/chat/completions"),
    ("POST", "/mcp/tools"),
]


@each(("method", "path"), PLACES)
def test_what_pages_ask_for_takes_the_session(tmp_path: Path, method: str, path: str) -> None:
    site = Site(tmp_path)
    site.enter()
    assert site.fetch(path, method).status_code not in (401, 403)


ELSEWHERE = [
    {"sec_fetch_site": "cross-site", "origin": "https://evil.example.com"},
    {"sec_fetch_site": "same-site", "origin": "https://other.example.com"},
    {"sec_fetch_site": "none", "sec_fetch_dest": "document"},
    {"sec_fetch_dest": "document"},
    {"sec_fetch_site": "", "sec_fetch_dest": ""},
    {"origin": "https://evil.example.com"},
]


@each(("method", "path"), PLACES)
def test_a_request_from_elsewhere_does_not(tmp_path: Path, method: str, path: str) -> None:
    site = Site(tmp_path)
    site.enter()
    for headers in ELSEWHERE:
        assert site.fetch(path, method, **headers).status_code in (401, 403), headers


def test_a_token_counts_before_the_session(site: Site) -> None:
    site.enter()
    headers = {"authorization": f"Bearer {ALL}"}
    assert site.fetch("/console/models.json", **headers).json["token"]["name"] == "everything"
    wrong = site.fetch("/v1/usage", authorization="Bearer mw-wrong")
    assert (wrong.status_code, wrong.json["error"]["code"]) == (401, "invalid_api_key")


def test_a_session_that_has_ended_is_said_to_have(site: Site) -> None:
    site.enter()
    site.browser.clock.now += 9 * 3600
    answer = site.fetch("/v1/usage")
    assert (answer.status_code, answer.json["error"]["code"]) == (401, "invalid_session")
    said = site.fetch("/console/session").json
    assert (said["caller"], said["reason"]) == (None, "The session has ended. Sign in again.")


def test_a_refusal_is_a_page_without_what_the_address_says(site: Site) -> None:
    site.fetch("/console/sign-in")
    attack = "<script>alert(1)</script>"
    answer = site.fetch(
        "/console/sign-in/callback?" + urlencode({"error": attack, "state": attack})
    )
    assert answer.status_code == 400
    assert "not started in this browser" in answer.text
    assert "<script>alert" not in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]


OTHER = ["state=of-another-tab&code=c", "", "state=a&state=b", "state=%ff"]


@each("query", OTHER)
def test_the_response_of_another_sign_in_does_not_end_this_one(tmp_path: Path, query: str) -> None:
    site = Site(tmp_path)
    start = site.fetch("/console/sign-in?to=/docs")
    assert site.fetch(f"/console/sign-in/callback?{query}").status_code == 400
    assert site.come_back(start).headers["location"] == f"{BASE}/docs"


def test_a_response_of_this_sign_in_ends_it_if_it_is_refused(site: Site) -> None:
    start = site.fetch("/console/sign-in")
    assert site.come_back(start, error="access_denied").status_code == 400
    assert site.browser.cookies == {}


def test_a_person_whom_nobody_let_in_gets_403(site: Site) -> None:
    site.browser.provider.claims = {"groups": ["guests"]}
    answer = site.enter()
    assert answer.status_code == 403
    assert "lacks a claim" in answer.text


def test_while_the_provider_is_away_one_may_try_again(site: Site) -> None:
    site.browser.provider.answers["openid-configuration"] = ProviderUnavailable("secret address")
    answer = site.fetch("/console/sign-in")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert "secret address" not in answer.text


def test_only_an_own_page_signs_out(site: Site) -> None:
    site.enter()
    for headers in ELSEWHERE:
        assert site.fetch("/console/sign-out", "POST", **headers).status_code == 403
    assert site.fetch("/console/sign-out").status_code in (404, 405)
    answer = site.fetch("/console/sign-out", "POST")
    assert answer.json["provider"].startswith(f"{ISSUER}out?")
    assert site.browser.cookies == {}


def test_without_the_block_there_is_nothing_of_it(tmp_path: Path) -> None:
    without = text(tmp_path).partition("console:")[0]
    plain = client(tmp_path, None, without)
    for path in ("/console/sign-in", "/console/sign-in/callback", "/console/session"):
        assert plain.simulate_get(path).status_code == 404
    assert plain.simulate_post("/console/sign-out").status_code == 404
    for path in ("/console/playground", "/console/tools", "/docs"):
        assert 'name="sign-in"' not in plain.simulate_get(path).text
    answer = plain.simulate_get("/v1/usage", headers={**OWN, "cookie": f"{SESSION}=x"})
    assert (answer.status_code, answer.json["error"]["code"]) == (401, "invalid_api_key")


def test_the_pages_know_that_one_can_sign_in(site: Site) -> None:
    for path in ("/console/playground", "/console/tools", "/docs"):
        assert 'name="sign-in"' in site.client.simulate_get(path).text


def test_without_the_playground_its_calls_take_no_session(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.enter()
    front = text(tmp_path).replace("console:\n", "console:\n  playground: false\n")
    site.client = client(tmp_path, site.browser, front)
    assert site.fetch("/v1/chat/chat/completions", "POST").status_code == 401
    assert site.fetch("/v1/usage").status_code == 200
