"""A person signs in at a provider; what an attacker sends in its place signs nobody in."""

from __future__ import annotations

import base64
import hashlib
from typing import Any
from urllib.parse import urlencode

import pytest

from engine.callers.sign_in.provider import Answer
from engine.callers.sign_in.refusal import ProviderUnavailable, SignInRefused
from tests.support.each import each
from tests.support.page_sign_in import BASE, CLIENT, KEY, Browser, Provider, config
from tests.support.signed_tokens import ISSUER, NOW, claims, ec_key, token

SESSION, FLOW = "__Host-modelway-session", "__Host-modelway-sign-in"


def refusal(browser: Browser, **changes: Any) -> SignInRefused:
    state = browser.begin()["state"]
    with pytest.raises(SignInRefused) as raised:
        browser.come_back(**{"state": state, **changes})
    assert SESSION not in browser.cookies
    return raised.value


def test_a_person_signs_in_and_is_the_caller_of_the_entry() -> None:
    browser = Browser()
    arrival = browser.enter()
    assert arrival.page == "/console/usage"
    assert arrival.caller.name == "sso:ada@example.com"
    caller = browser.caller()
    assert (caller.name, caller.team, caller.teams[0].name) == (
        "sso:ada@example.com",
        "search",
        "search",
    )
    assert caller.expires == NOW + 8 * 3600
    assert [*browser.cookies] == [SESSION], "the cookie of the sign-in is gone"


def test_the_provider_gets_what_binds_its_answer_to_this_browser() -> None:
    browser = Browser()
    sent = browser.begin()
    assert sent["tenant"] == "a", "the query of its own address stays"
    assert sent["response_type"] == "code"
    assert sent["redirect_uri"] == f"{BASE}/console/sign-in/callback"
    assert sent["scope"] == "openid profile email"
    browser.come_back(state=sent["state"])
    (form,) = [form for _, url, _, form in browser.provider.requests if url.endswith("token")]
    digest = hashlib.sha256(form["code_verifier"].encode()).digest()
    assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == sent["code_challenge"]
    assert form["client_id"] == CLIENT
    secret = {form["code_verifier"], sent["nonce"]}
    assert not any(value in str(browser.cookies) for value in secret)


def test_a_confidential_client_shows_its_secret_as_the_provider_wants_it() -> None:
    text = config("client_secret: 'se:cret'")
    for methods, is_basic in ((None, True), (["client_secret_post"], False)):
        provider = Provider(
            **({} if methods is None else {"token_endpoint_auth_methods_supported": methods})
        )
        browser = Browser(provider, text)
        browser.enter()
        _, _, headers, form = browser.provider.requests[-1]
        expected = base64.b64encode(f"{CLIENT}:se%3Acret".encode()).decode()
        assert (headers.get("authorization") == f"Basic {expected}") is is_basic
        assert (form.get("client_secret") == "se:cret") is not is_basic


@each(
    ("name", "value"),
    [
        ("state", "other"),
        ("state", ""),
        ("state", None),
        ("iss", "https://evil.example.com/"),
        ("iss", None),
        ("iss", ISSUER.rstrip("/")),
        ("code", None),
        ("code", ""),
        ("code", "c" * 5_000),
        ("error", "access_denied"),
        ("error", "<script>alert(1)</script>"),
    ],
)
def test_a_response_that_is_not_of_this_sign_in_is_refused(name: str, value: Any) -> None:
    browser = Browser()
    error = refusal(browser, **{name: value})
    assert "<" not in str(error)
    assert not any(url.endswith("token") for _, url, _, _ in browser.provider.requests)


@each(
    "query",
    [
        "state={s}&state={s}&code=c&iss={i}",
        "state={s}&code=c&code=d&iss={i}",
        "state={s}&code=c&iss={i}&iss={i}",
        "state={s}&code=c&iss=%ff",
        "&".join(f"a{number}=b" for number in range(40)),
    ],
)
def test_a_parameter_that_comes_twice_is_refused(query: str) -> None:
    browser = Browser()
    state = browser.begin()["state"]
    text = query.format(s=state, i=urlencode({"": ISSUER})[1:])
    with pytest.raises(SignInRefused):
        browser.sign_in.finish(text, browser.environ())


def test_a_response_without_its_cookie_signs_nobody_in() -> None:
    """Login CSRF: an attacker's own response in another browser."""
    attacker, person = Browser(), Browser()
    state = attacker.begin()["state"]
    with pytest.raises(SignInRefused, match="not started in this browser"):
        person.come_back(state=state)
    person.begin()
    with pytest.raises(SignInRefused, match="not started in this browser"):
        person.come_back(state=state)
    assert SESSION not in person.cookies


def test_a_response_is_not_taken_twice() -> None:
    browser = Browser()
    state = browser.begin()["state"]
    browser.come_back(state=state)
    with pytest.raises(SignInRefused, match="not started in this browser"):
        browser.come_back(state=state)


def test_a_sign_in_that_takes_too_long_is_refused() -> None:
    browser = Browser()
    state = browser.begin()["state"]
    browser.clock.now += 601
    with pytest.raises(SignInRefused):
        browser.come_back(state=state)


def test_the_cookie_of_a_session_is_not_that_of_a_sign_in() -> None:
    browser = Browser()
    browser.enter()
    browser.cookies[FLOW] = browser.cookies[SESSION]
    with pytest.raises(SignInRefused):
        browser.come_back(state="")


def test_a_sign_in_at_another_provider_is_not_ended_here() -> None:
    """Mixed issuers: two providers, of which one is an attacker's, and one ring of keys."""
    other = config().replace("login.example.com", "evil.example.com")
    evil = "https://evil.example.com/"
    names = ("authorization_endpoint", "token_endpoint", "jwks_uri")
    provider = Provider(issuer=evil, **{name: f"{evil}{name[:5]}" for name in names})
    browser = Browser()
    stranger = Browser(provider, other)
    state = stranger.begin()["state"]
    browser.cookies = dict(stranger.cookies)
    with pytest.raises(SignInRefused, match="not started in this browser"):
        browser.come_back(state=state)


@each(
    "changes",
    [
        {"aud": "modelway"},
        {"aud": "another-client"},
        {"aud": [CLIENT, "another"]},
        {"aud": [CLIENT, "another"], "azp": "another"},
        {"azp": "another"},
        {"azp": ["modelway-console"]},
        {"nonce": None},
        {"nonce": "another"},
        {"nonce": ["a"]},
        {"iss": "https://evil.example.com/"},
        {"exp": NOW - 3_600},
        {"exp": None},
        {"iat": NOW + 3_600},
        {"nbf": NOW + 3_600},
        {"sub": None},
        {"sub": ""},
        {"sub": 7},
    ],
)
def test_an_id_token_of_another_sign_in_or_client_is_refused(changes: dict[str, Any]) -> None:
    browser = Browser()
    browser.provider.claims = changes
    refusal(browser)


@each(
    "forge",
    [
        lambda said: token(said, key=ec_key(1)),
        lambda said: token(said, key="", algorithm="none"),
        lambda said: token(said, key="0123456789abcdef" * 4, algorithm="HS256"),
        lambda said: token(said, kid="unknown"),
        lambda said: token(said)[:-4] + "AAAA",
        lambda said: "eyJ.e30.",
        lambda said: "",
        lambda said: "x" * 10_000,
        lambda said: token(said, jku="https://evil.example.com/keys", kid=None, crit=["jku"]),
    ],
)
def test_a_forged_id_token_is_refused(forge: Any) -> None:
    browser = Browser()
    browser.provider.token = forge
    refusal(browser)


def test_a_code_that_is_not_of_this_sign_in_brings_no_session() -> None:
    """Code injection: PKCE lets the provider refuse it."""
    browser = Browser()
    browser.provider.answers["token"] = Answer(400, b'{"error": "invalid_grant"}')
    assert "invalid_grant" in str(refusal(browser, code="stolen"))


def test_a_stolen_code_of_a_provider_without_pkce_is_refused_by_its_nonce() -> None:
    browser = Browser()
    browser.provider.claims = {"nonce": "of the other sign-in"}
    refusal(browser, code="stolen")


@each(
    ("changes", "words"),
    [
        ({"groups": ["guests"]}, "lacks a claim"),
        ({"groups": None}, "lacks a claim"),
        ({"email": None}, "no claim 'email'"),
        ({"email": "a\u202eb"}, "'email'"),
        ({"email": {"a": 1}}, "'email'"),
        ({"email": "a" * 9_000}, "more than 8192 characters"),
    ],
)
def test_a_person_whom_the_entry_does_not_let_in_hears_why(changes: Any, words: str) -> None:
    browser = Browser()
    browser.provider.claims = changes
    assert words in str(refusal(browser))


@each(
    "answer",
    [
        ProviderUnavailable("timeout"),
        Answer(502, b"<html>"),
        Answer(200, b"<html>"),
        Answer(200, b"[]"),
        Answer(200, b"{}"),
        Answer(503, b'{"error": "temporarily_unavailable"}'),
        Answer(400, b'{"error": "<b>"}'),
        Answer(302, b""),
    ],
)
def test_a_provider_that_fails_is_unavailable_and_the_sign_in_may_be_ended_later(
    answer: Any,
) -> None:
    browser = Browser()
    state = browser.begin()["state"]
    browser.provider.answers["token"] = answer
    with pytest.raises(ProviderUnavailable):
        browser.come_back(state=state)
    browser.provider.answers.clear()
    browser.come_back(state=state)
    assert browser.caller().name == "sso:ada@example.com"


def test_a_client_that_the_provider_does_not_know_is_the_operators_matter() -> None:
    browser = Browser()
    browser.provider.answers["token"] = Answer(401, b'{"error": "invalid_client"}')
    assert "Tell its operator" in str(refusal(browser))


@each(
    "changes",
    [
        {"issuer": "https://evil.example.com/"},
        {"token_endpoint": "http://login.example.com/token"},
        {"token_endpoint": "https://169.254.169.254/token"},
        {"token_endpoint": "https://10.0.0.1/token"},
        {"token_endpoint": "https://[::1]/token"},
        {"token_endpoint": "https://[::ffff:10.0.0.1]/token"},
        {"token_endpoint": "https://localhost/token"},
        {"token_endpoint": "https://2130706433/token"},
        {"token_endpoint": "https://0x7f.1/token"},
        {"token_endpoint": "https://user:pw@login.example.com/token"},
        {"token_endpoint": "file:///etc/passwd"},
        {"token_endpoint": None},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"authorization_endpoint": "https://login.example.com/a\r\nset-cookie: a=b"},
        {"userinfo_endpoint": "https://192.168.1.1/"},
        {"end_session_endpoint": "http://login.example.com/"},
        {"code_challenge_methods_supported": ["plain"]},
    ],
)
def test_metadata_that_lead_elsewhere_are_not_used(changes: dict[str, Any]) -> None:
    browser = Browser(Provider(**changes))
    with pytest.raises(ProviderUnavailable):
        browser.begin()


def test_claims_that_the_id_token_lacks_come_from_userinfo_of_the_same_person() -> None:
    provider = Provider(userinfo_endpoint=f"{ISSUER}userinfo")
    browser = Browser(provider)
    provider.claims = {"email": None}
    provider.userinfo = {"sub": "ada", "email": "ada@example.com", "groups": ["sales"]}
    browser.enter()
    assert (browser.caller().name, browser.caller().team) == ("sso:ada@example.com", "search")
    _, _, headers, _ = provider.requests[-1]
    assert headers == {"authorization": "Bearer at"}
    provider.userinfo["sub"] = "eve"
    with pytest.raises(SignInRefused, match="another person"):
        browser.enter()


def test_signing_in_again_is_another_session() -> None:
    """Session fixation: what the browser had before does not live on."""
    browser = Browser()
    browser.enter()
    before = browser.cookies[SESSION]
    browser.enter()
    assert browser.cookies[SESSION] != before


def test_signing_out_ends_the_session_here_and_at_the_provider() -> None:
    browser = Browser()
    browser.enter()
    cookie, address = browser.sign_in.sign_out()
    browser.keep(cookie)
    assert browser.caller() is None
    assert address.startswith(f"{ISSUER}out?client_id={CLIENT}&post_logout_redirect_uri=https")


def test_signing_out_needs_no_provider() -> None:
    browser = Browser()
    browser.provider.answers["openid-configuration"] = ProviderUnavailable("away")
    cookie, address = browser.sign_in.sign_out()
    assert ("Max-Age=0" in cookie, address) == (True, "")


def test_a_key_and_what_it_seals_are_not_in_the_open() -> None:
    browser = Browser()
    browser.enter()
    text = str(browser.cookies)
    assert KEY not in text + repr(browser.sign_in.__dict__["_config"])
    assert "ada" not in text
    assert claims()["iss"] not in text
