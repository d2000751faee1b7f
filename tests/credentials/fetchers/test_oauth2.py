"""Client credentials of OAuth 2.0 (RFC 6749 section 4.4) against a token server."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.credentials.access_tokens.token import CredentialUnavailable
from engine.credentials.fetchers.oauth2 import fetch
from tests.support.peer import Authority
from tests.support.ports import free_port
from tests.support.recording import Recorder, answer, recorder
from tests.support.scripted import CLOSE, script
from tests.support.token_servers import form_of, json_answer, numbered, tls_context


@pytest.fixture
def server() -> Iterator[Recorder]:
    with recorder() as recording:
        recording.speak = numbered()
        yield recording


def options(url: str, **more: str) -> dict[str, str]:
    basic = {"method": "basic"}
    return {"token_url": url, "client": "me", "secret": "s3cr3t", **basic, **more}


def failure(server: Recorder, **more: str) -> CredentialUnavailable:
    with pytest.raises(CredentialUnavailable) as excinfo:
        fetch(options(server.url, **more))
    return excinfo.value


def test_the_client_asks_for_a_token(server: Recorder) -> None:
    before = time.time()
    values, expires = fetch(options(f"{server.url}/oauth2/token"))
    assert values == {"token": "token-1"}
    assert expires is not None
    assert before + 3600 <= expires <= time.time() + 3600
    request = server.last
    assert request.line == "POST /oauth2/token HTTP/1.1"
    assert form_of(request) == {"grant_type": "client_credentials"}
    assert request.values("content-type") == ["application/x-www-form-urlencoded"]


def test_a_basic_client_encodes_its_name_and_secret(server: Recorder) -> None:
    fetch(options(server.url, client="a:b", secret="c d%"))
    [value] = server.last.values("authorization")
    scheme, _, pair = value.partition(" ")
    assert (scheme, base64.b64decode(pair)) == ("Basic", b"a%3Ab:c+d%25")


def test_a_client_may_authenticate_in_the_body(server: Recorder) -> None:
    fetch(options(server.url, method="body", secret="c d%"))
    form = form_of(server.last)
    assert (form["client_id"], form["client_secret"]) == ("me", "c d%")
    assert server.last.values("authorization") == []


def test_a_scope_and_an_audience_are_sent(server: Recorder) -> None:
    fetch(options(server.url, scope="a b", audience="https://api.test"))
    form = form_of(server.last)
    assert (form["scope"], form["audience"]) == ("a b", "https://api.test")


@pytest.mark.parametrize("life", [None, "soon", "NaN"])
def test_a_token_may_have_no_end(server: Recorder, life: Any) -> None:
    server.speak = numbered(life=life)
    assert fetch(options(server.url))[1] is None


@pytest.mark.parametrize(
    ("status", "document", "words", "lasting"),
    [
        (400, {"error": "invalid_scope"}, "answered 400 invalid_scope", True),
        (
            *(401, {"error": "invalid_client", "error_description": "No such client."}),
            *("answered 401 invalid_client: No such client.", True),
        ),
        (429, {}, "answered 429", False),
        (500, {"error": ["a"]}, "answered 500", False),
        (503, "text", "answered 503", False),
    ],
)
def test_a_refusal_is_named(
    server: Recorder, status: int, document: Any, words: str, lasting: bool
) -> None:
    server.speak = json_answer(document, status)
    unavailable = failure(server)
    assert unavailable.words == f"the token server {words}"
    assert (unavailable.detail, unavailable.lasting) == (server.url, lasting)


@pytest.mark.parametrize(
    "body", [b"<html>", b"[]", b"{}", b'{"access_token": ""}', b'{"access_token": "a\\nb"}']
)
def test_an_answer_without_a_token_is_a_failure(server: Recorder, body: bytes) -> None:
    server.speak = answer(body)
    failed = failure(server)
    assert failed.words == "the token server's answer has no access token"
    assert not failed.lasting


def test_another_type_of_token_is_a_failure(server: Recorder) -> None:
    server.speak = json_answer({"access_token": "a", "token_type": "mac"})
    assert "of type 'mac', which is not Bearer" in failure(server).words


def test_the_type_of_a_token_is_in_any_case(server: Recorder) -> None:
    server.speak = json_answer({"access_token": "a", "token_type": "bearer"})
    assert fetch(options(server.url))[0] == {"token": "a"}


def test_a_redirect_is_not_followed(server: Recorder) -> None:
    with recorder() as elsewhere:
        server.speak = answer(b"", [f"Location: {elsewhere.url}/"], 302)
        assert failure(server).words == "the token server answered 302"
        assert elsewhere.requests == []


def test_a_server_that_hangs_up_is_a_failure(server: Recorder) -> None:
    server.speak = script(CLOSE)
    failed = failure(server)
    assert failed.words == "the token server cannot be reached"
    assert not failed.lasting


def test_a_server_that_is_not_there_is_named() -> None:
    url = f"http://127.0.0.1:{free_port()}/token"
    with pytest.raises(CredentialUnavailable, match="cannot be reached") as excinfo:
        fetch(options(url))
    assert excinfo.value.detail.startswith(f"{url}: ")
    assert "refused" in excinfo.value.detail


def test_the_certificate_of_the_server_is_verified(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    with recorder(tls_context(authority.issue("127.0.0.1"))) as server:
        server.speak = numbered()
        assert fetch(options(server.url, ca=authority.path))[0] == {"token": "token-1"}
        with pytest.raises(CredentialUnavailable, match="CERTIFICATE_VERIFY_FAILED"):
            fetch(options(server.url))
