"""A session is what its cookie says, as the config of today judges it, for its own pages only."""

from __future__ import annotations

import random
from base64 import urlsafe_b64encode
from typing import Any

import pytest

from engine.callers.jwt.identity import ends_of, is_signed, issuer_identity, revocable
from engine.callers.jwt.refusal import TokenRefused
from engine.callers.sign_in.cookie_sessions import MAX_VALUE, Cookie
from engine.callers.sign_in.refusal import SignInRefused
from tests.support.each import each
from tests.support.page_sign_in import Browser, Provider, config
from tests.support.signed_tokens import ISSUER

COOKIE = Cookie("session", "Strict", has_tls=True)


def test_a_cookie_is_bound_to_its_host_and_to_tls():
    expected = "__Host-modelway-session=v; Path=/; Max-Age=60; HttpOnly; Secure; SameSite=Strict"
    assert COOKIE.set("v", 60.5) == expected


def test_without_tls_it_has_no_prefix():
    cookie = Cookie("session", "Lax", has_tls=False)
    expected = "modelway-session=v; Path=/; Max-Age=60; HttpOnly; SameSite=Lax"
    assert cookie.set("v", 60) == expected


def test_it_is_cleared_by_its_age():
    assert COOKIE.clear().startswith("__Host-modelway-session=; Path=/; Max-Age=0;")


@each(
    ("header", "value"),
    [
        (None, ""),
        ("", ""),
        ("__Host-modelway-session=v", "v"),
        ("a=b; __Host-modelway-session=v; c=d", "v"),
        ("modelway-session=v", ""),
        ("__host-modelway-session=v", ""),
        ("__Host-modelway-session=v; __Host-modelway-session=w", ""),
        (f"__Host-modelway-session={'v' * (MAX_VALUE + 1)}", ""),
    ],
)
def test_the_one_cookie_of_the_name_is_read(header, value):
    environ = {} if header is None else {"HTTP_COOKIE": header}
    assert COOKIE.read(environ) == value


SESSION = "__Host-modelway-session"
NEW_KEY = "fedcba9876543210fedcba9876543210"


@pytest.fixture(scope="module")
def entered() -> Browser:
    browser = Browser()
    browser.provider.claims = {"jti": "7"}
    browser.enter()
    return browser


def judged(browser: Browser, text: str) -> Any:
    """The caller, as a gateway with another config says."""
    known = browser.gateway(text).caller(browser.environ())
    assert known is not None
    return known[0]


@each(
    "headers",
    [
        {"HTTP_SEC_FETCH_SITE": "cross-site"},
        {"HTTP_SEC_FETCH_SITE": "same-site"},
        {"HTTP_SEC_FETCH_SITE": "none"},
        {"HTTP_SEC_FETCH_SITE": ""},
        {"HTTP_SEC_FETCH_DEST": "document"},
        {"HTTP_SEC_FETCH_DEST": "image"},
        {"HTTP_SEC_FETCH_DEST": "iframe"},
        {"HTTP_SEC_FETCH_DEST": "websocket"},
        {"HTTP_SEC_FETCH_DEST": ""},
        {"HTTP_ORIGIN": "https://evil.example.com"},
        {"HTTP_ORIGIN": "null"},
        {"HTTP_ORIGIN": ""},
        {"HTTP_ORIGIN": "http://models.example.com"},
        {"HTTP_ORIGIN": "https://models.example.com:8443"},
        {"HTTP_ORIGIN": "https://models.example.com.evil.example.com"},
    ],
)
def test_only_a_fetch_of_an_own_page_has_the_session(
    entered: Browser, headers: dict[str, str]
) -> None:
    assert entered.caller() is not None
    assert entered.caller(HTTP_ORIGIN="https://models.example.com") is not None
    assert entered.caller(**headers) is None


def test_a_request_of_a_program_has_none(entered: Browser) -> None:
    cookie = entered.environ()["HTTP_COOKIE"]
    assert entered.sign_in.caller({"HTTP_COOKIE": cookie}) is None


def refused(browser: Browser, value: str) -> None:
    environ = {**browser.environ(), "HTTP_COOKIE": f"{SESSION}={value}"}
    with pytest.raises(TokenRefused, match="Sign in again"):
        browser.sign_in.caller(environ)


def test_a_cookie_that_was_tampered_with_is_refused(entered: Browser) -> None:
    value = entered.cookies[SESSION]
    for at in random.Random(3).sample(range(len(value)), 40):
        changed = value[:at] + ("A" if value[at] != "A" else "B") + value[at + 1 :]
        refused(entered, changed)
    refused(entered, value[:-1])
    refused(entered, value + "A")
    refused(entered, "x")


def test_a_cookie_of_another_gateway_or_client_or_issuer_is_refused(entered: Browser) -> None:
    others = (
        config(key=NEW_KEY),
        config().replace("modelway-console", "another"),
        config().replace("login.example.com", "other.example.com"),
    )
    for text in others:
        with pytest.raises(TokenRefused, match="Sign in again"):
            judged(entered, text)


def test_a_cookie_is_not_that_of_a_sign_in(entered: Browser) -> None:
    entered.begin()
    refused(entered, entered.cookies.pop("__Host-modelway-sign-in"))


def test_a_cookie_that_is_too_long_or_comes_twice_is_none(entered: Browser) -> None:
    value = entered.cookies[SESSION]
    for cookie in (f"{SESSION}={'A' * 5_000}", f"{SESSION}={value}; {SESSION}={value}"):
        assert entered.sign_in.caller({**entered.environ(), "HTTP_COOKIE": cookie}) is None


def test_a_session_ends() -> None:
    browser = Browser(text=config("session: 30m"))
    browser.enter()
    browser.clock.now += 1_799
    assert browser.caller().expires == browser.clock.now + 1
    browser.clock.now += 1
    with pytest.raises(TokenRefused, match="has ended"):
        browser.caller()


def test_a_session_lives_on_under_a_new_key_as_long_as_the_old_one_is_there(
    entered: Browser,
) -> None:
    ring = config().replace('keys: ["', f'keys: ["{NEW_KEY}", "')
    assert judged(entered, ring).name == "sso:ada@example.com"


@each(
    ("old", "new", "words"),
    [
        ("require: {groups: [search, sales]}", "require: {groups: sales}", "lacks a claim"),
        ("require: {groups", "revoked: ['7']\n      require: {groups", "was revoked"),
        ("require: {groups", "revoked_subjects: [ada]\n      require: {groups", "was revoked"),
    ],
)
def test_what_the_config_takes_back_is_taken_back_from_sessions(
    entered: Browser, old: str, new: str, words: str
) -> None:
    with pytest.raises(TokenRefused, match=words):
        judged(entered, config().replace(old, new))


def test_rights_and_teams_are_those_of_the_config_of_today(entered: Browser) -> None:
    text = config().replace('prefix: "sso:"', 'prefix: "sso:"\n      models: [one]')
    caller = judged(entered, text.replace("teams: {search:", "teams: {sales:"))
    assert (caller.models, caller.team, caller.teams) == (("one",), "search", ())


def test_the_identity_of_a_session_is_that_of_its_id_token(entered: Browser) -> None:
    known = entered.sign_in.caller(entered.environ())
    assert known is not None
    assert known[1] == revocable(ISSUER, "7", "ada")


def test_sessions_without_an_id_have_identities_of_their_own() -> None:
    identities = set()
    for _ in range(2):
        browser = Browser()
        browser.enter()
        known = browser.sign_in.caller(browser.environ())
        assert known is not None
        identities.add(known[1])
    assert len(identities) == 2
    for identity in identities:
        assert is_signed(identity)
        assert ends_of(identity)[0] == issuer_identity(ISSUER)


def test_of_hundreds_of_groups_a_session_has_those_that_count() -> None:
    browser = Browser()
    groups = ["search", *(f"group-{number:04}" for number in range(400))]
    browser.provider.claims = {"groups": groups}
    browser.enter()
    assert len(browser.cookies[SESSION]) < 400
    assert browser.caller().team == "search"


def test_a_claim_that_does_not_fit_into_a_cookie_is_named() -> None:
    browser = Browser(Provider(), config().replace("name: email", "name: email, models: allowed"))
    noise = random.Random(1)
    names = [urlsafe_b64encode(noise.randbytes(30)).decode() for _ in range(120)]
    browser.provider.claims = {"allowed": names}
    with pytest.raises(SignInRefused, match="'allowed' is too long"):
        browser.enter()


def test_without_tls_on_this_machine_the_cookie_has_another_name() -> None:
    text = config().replace("https://models.example.com", "http://127.0.0.1:8080")
    browser = Browser(text=text)
    arrival = browser.enter()
    assert [*browser.cookies] == ["modelway-session"]
    assert not any("Secure" in cookie for cookie in arrival.cookies)
    assert browser.caller(HTTP_ORIGIN="http://127.0.0.1:8080") is not None
