"""`oidc-provider` of npm, an OpenID Connect provider, as a process on the loopback, and the flows
by which a person and a program get tokens of it (`tests/cases/oidc/provider.mjs`)."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit
from urllib.request import (
    HTTPCookieProcessor,
    HTTPRedirectHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    build_opener,
)

from tests.support.agents import FOLDER, PROGRAMS
from tests.support.driver import Driver
from tests.support.paths import CASES
from tests.support.waiting import PATIENCE

RESOURCE = "https://models.example.com/"
"""The audience of access tokens."""

_NODE = shutil.which("node", path=f"{PROGRAMS}:{os.environ['PATH']}")
IS_INSTALLED = _NODE is not None and (FOLDER / "node_modules" / "oidc-provider").is_dir()

PEOPLE = """
callers:
  jwt:
    - issuer: {issuer}
      audience: modelway
      prefix: "sso:"
      require: {{groups: models-users}}
      claims: {{team: "groups[1]"}}
console:
  sign_in:
    issuer: {issuer}
    client_id: console
    client_secret: secret of the console
    scopes: [openid, profile]
    keys: [0f8a7c6b5d4e3f2a1908f7e6d5c4b3a2]
"""
"""The sections of a gateway whose pages people of the provider use, a format of its issuer."""

_CALLBACK = "http://127.0.0.1:1/callback"
_STEPS = 12


@contextmanager
def oidc_provider() -> Iterator[str]:
    """The issuer of a provider that runs."""
    assert _NODE is not None
    command = [_NODE, CASES / "oidc" / "provider.mjs", FOLDER]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            issuer = process.stdout.readline().strip()
            assert issuer.startswith("http://127.0.0.1:"), issuer
            yield issuer
        finally:
            process.kill()


def program_token(issuer: str, client: str = "nightly") -> str:
    """The access token of a program, by its client's secret (RFC 6749 4.4)."""
    credentials = base64.b64encode(f"{client}:secret".encode()).decode()
    form = {"grant_type": "client_credentials", "scope": "models"}
    answer = _post(_opener(), f"{issuer}/token", form, Authorization=f"Basic {credentials}")
    return str(json.loads(answer[2])["access_token"])


def sign_in(issuer: str, name: str) -> dict[str, Any]:
    """The tokens of a person, who signs in and agrees: a code with PKCE (RFC 7636)."""
    verifier = secrets.token_urlsafe(48)
    digest = hashlib.sha256(verifier.encode()).digest()
    query = {
        "client_id": "terminal",
        "response_type": "code",
        "redirect_uri": _CALLBACK,
        "scope": "openid models",
        "resource": RESOURCE,
        "code_challenge": base64.urlsafe_b64encode(digest).decode().rstrip("="),
        "code_challenge_method": "S256",
    }
    opener = _opener()
    form = {
        "grant_type": "authorization_code",
        "code": _code(opener, f"{issuer}/auth?{urlencode(query)}", name),
        "code_verifier": verifier,
        "client_id": "terminal",
        "redirect_uri": _CALLBACK,
    }
    tokens: dict[str, Any] = json.loads(_post(opener, f"{issuer}/token", form)[2])
    return tokens


def sign_in_page(page: Driver, name: str) -> None:
    """Sign in, and agree, at the provider's pages in a browser."""
    page.until("document.querySelector('input[name=login]') !== null")
    page.run(
        f"document.querySelector('input[name=login]').value = '{name}';"
        "document.querySelector('input[name=password]').value = 'any';"
        "document.querySelector('form').submit()"
    )
    page.until("document.querySelector('input[name=prompt][value=consent]') !== null")
    page.run("document.querySelector('form').submit()")
    page.until("!location.pathname.startsWith('/interaction')")


def _code(opener: OpenerDirector, url: str, name: str) -> str:
    """The code with which the provider sends a person back, through its pages."""
    status, location, page = _send(opener, Request(url))
    for _ in range(_STEPS):
        if status in (302, 303):
            url = urljoin(url, location)
            if url.startswith(_CALLBACK):
                return parse_qs(urlsplit(url).query)["code"][0]
            status, location, page = _send(opener, Request(url))
            continue
        assert status == 200, page
        action = re.search(r'action="([^"]+)"', page)
        assert action is not None, page
        prompt = "login" if 'name="login"' in page else "consent"
        form = {"prompt": prompt, "login": name, "password": "any"}
        url = urljoin(url, action[1])
        status, location, page = _post(opener, url, form)
    raise AssertionError(f"no end of the sign-in at {url}")


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *arguments: Any, **options: Any) -> None:
        return None


def _opener() -> OpenerDirector:
    return build_opener(ProxyHandler({}), HTTPCookieProcessor(CookieJar()), _NoRedirect())


def _post(
    opener: OpenerDirector, url: str, form: dict[str, str], **headers: str
) -> tuple[int, str, str]:
    return _send(opener, Request(url, urlencode(form).encode(), headers))


def _send(opener: OpenerDirector, request: Request) -> tuple[int, str, str]:
    """Status, Location and body of the answer to a request."""
    try:
        response = opener.open(request, timeout=PATIENCE)
    except HTTPError as error:
        response = error
    with response:
        location = str(response.headers.get("location", ""))
        return int(response.status), location, response.read().decode()
