"""A provider that is asked in this process, and sign-ins at it: what a browser keeps and sends."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import orjson

from engine.app.services.bearers import source_of
from engine.app.services.sign_in import sign_in_of
from engine.callers.jwt.key_set import KeySet
from engine.callers.sign_in.page_sign_in import PageSignIn
from engine.callers.sign_in.provider import Answer
from engine.config.load import load
from engine.exchange.sign_in import Arrival
from engine.plan.plan import Plan
from engine.source.problem import Findings
from tests.support.clock import Clock
from tests.support.signed_tokens import ISSUER, NOW, claims, key_set, token

BASE = "https://models.example.com"
CLIENT = "modelway-console"
KEY = "0123456789abcdef0123456789abcdef"
CONFIG = """version: 1
server: {base_url: "https://models.example.com"}
callers:
  jwt:
    - issuer: https://login.example.com/
      audience: modelway
      prefix: "sso:"
      claims: {name: email, team: "groups[0]"}
      require: {groups: [search, sales]}
teams: {search: {budget: 50 USD/month}}
console:
  sign_in: {issuer: https://login.example.com/, client_id: modelway-console, keys: ["KEY"], MORE}
"""
METADATA = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}auth?tenant=a",
    "token_endpoint": f"{ISSUER}token",
    "jwks_uri": f"{ISSUER}keys",
    "end_session_endpoint": f"{ISSUER}out",
    "code_challenge_methods_supported": ["S256"],
    "authorization_response_iss_parameter_supported": True,
}
OWN_FETCH = {"HTTP_SEC_FETCH_SITE": "same-origin", "HTTP_SEC_FETCH_DEST": "empty"}
"""What browsers say of a fetch of a page of the same origin."""


def config(more: str = "", key: str = KEY) -> str:
    return CONFIG.replace("KEY", key).replace("MORE", more).replace(", }", "}")


def plan_of(text: str) -> Plan:
    """The plan of a config without documents and routes."""
    findings = Findings()
    config, _ = load(text, "gateway.yaml", Path(), {}, findings)
    errors = [problem for problem in findings.errors if problem.code != "MW102"]
    assert not errors, [str(problem) for problem in errors]
    assert config is not None
    return Plan(config, ())


class Provider:
    """A provider: `metadata`, the claims that its next ID token has besides the usual (None leaves
    one out), and what it answers in place of a token. `requests` are those that it got."""

    def __init__(self, **metadata: Any) -> None:
        self.metadata = {**METADATA, **metadata}
        self.claims: dict[str, Any] = {}
        self.token: Callable[[dict[str, Any]], str] = token
        self.answers: dict[str, Answer | Exception] = {}
        self.userinfo: dict[str, Any] = {}
        self.requests: list[tuple[str, str, dict[str, str], dict[str, str]]] = []
        self.nonce = ""

    def send(self, method: str, url: str, headers: list[tuple[str, str]], body: bytes) -> Answer:
        self.requests.append((method, url, dict(headers), dict(parse_qsl(body.decode()))))
        name = urlsplit(url).path.rpartition("/")[2]
        if (answer := self.answers.get(name)) is not None:
            if isinstance(answer, Exception):
                raise answer
            return answer
        if name == "openid-configuration":
            return Answer(200, orjson.dumps(self.metadata))
        if name == "userinfo":
            return Answer(200, orjson.dumps(self.userinfo))
        assert name == "token", url
        usual = {"aud": CLIENT, "nonce": self.nonce, "email": "ada@example.com"}
        said = claims(**{**usual, "groups": ["search", "other"], **self.claims})
        tokens = {"id_token": self.token(said), "access_token": "at", "token_type": "Bearer"}
        return Answer(200, orjson.dumps(tokens))


class Browser:
    """A browser, its cookies, and a gateway with this config at which it signs in."""

    def __init__(self, provider: Provider | None = None, text: str = "") -> None:
        self.provider = provider or Provider()
        self.clock = Clock(NOW)
        self.cookies: dict[str, str] = {}
        self.sign_in = self.gateway(text or config())

    def gateway(self, text: str) -> PageSignIn:
        """A gateway with the same provider and clock."""
        plan = plan_of(text)
        sets = {source_of(entry): KeySet("i", key_set) for entry in plan.config.jwt}
        return sign_in_of(plan, sets, self.clock, self.provider.send)

    def environ(self, **headers: str) -> dict[str, str]:
        """A request of a page, with the cookies."""
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        return {**OWN_FETCH, **({"HTTP_COOKIE": cookie} if cookie else {}), **headers}

    def keep(self, set_cookie: str) -> None:
        """Do as Set-Cookie says."""
        pair, *attributes = set_cookie.split("; ")
        name, _, value = pair.partition("=")
        self.cookies.pop(name, None)
        if "Max-Age=0" not in attributes:
            self.cookies[name] = value

    def begin(self, page: str = "/console/usage") -> dict[str, str]:
        """Begin a sign-in; returns the parameters that the provider gets."""
        start = self.sign_in.begin(page)
        self.keep(start.cookie)
        query = parse_qs(urlsplit(start.address).query)
        sent = {name: value for name, (value,) in query.items()}
        self.provider.nonce = sent["nonce"]
        return sent

    def come_back(self, **changes: str | None) -> Arrival:
        """End the sign-in with the response of the provider; None leaves a parameter out."""
        query = {"code": "c", "iss": ISSUER, **changes}
        text = urlencode({name: value for name, value in query.items() if value is not None})
        arrival = self.sign_in.finish(text, self.environ())
        for cookie in arrival.cookies:
            self.keep(cookie)
        return arrival

    def enter(self, page: str = "/console/usage") -> Arrival:
        """Sign in."""
        return self.come_back(state=self.begin(page)["state"])

    def caller(self, **headers: str) -> Any:
        """The caller of a request of a page, None without one."""
        known = self.sign_in.caller(self.environ(**headers))
        return None if known is None else known[0]
