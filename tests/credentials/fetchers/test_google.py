"""Tokens of Google against a local token server and metadata server."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from engine.credentials.access_tokens import helper_process
from engine.credentials.access_tokens.token import CredentialUnavailable
from engine.credentials.fetchers.google import fetch
from tests.support.ports import free_port
from tests.support.recording import ReceivedRequest, Recorder, recorder
from tests.support.token_servers import by_path, form_of, google_machine, json_answer

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
OPTIONS = {"scope": SCOPE}
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
NAMES = ("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT", "CLOUDSDK_CONFIG")


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No credentials of the machine's own."""
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path / "no-gcloud"))
    monkeypatch.setenv("NO_GCE_CHECK", "true")


@pytest.fixture
def server() -> Iterator[Recorder]:
    with recorder() as recording:
        yield recording


def written(folder: Path, **document: Any) -> str:
    path = folder / "credentials.json"
    path.write_text(json.dumps(document))
    return str(path)


def service_account(folder: Path, url: str, key: rsa.RSAPrivateKey = KEY) -> str:
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return written(
        folder,
        type="service_account",
        project_id="p",
        private_key_id="k1",
        private_key=pem.decode(),
        client_email="gateway@p.iam.gserviceaccount.com",
        token_uri=f"{url}/token",
    )


def google(received: ReceivedRequest, sock: socket.socket) -> None:
    """Google's token server: a token for an assertion that KEY signed, for 1 h from now."""
    form = form_of(received)
    assert form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"
    host = dict(received.headers)["host"]
    try:
        claims = jwt.decode(
            form["assertion"],
            KEY.public_key(),
            algorithms=["RS256"],
            audience=["https://oauth2.googleapis.com/token", f"http://{host}/token"],
        )
    except jwt.InvalidTokenError:
        refused = {"error": "invalid_grant", "error_description": "Invalid JWT Signature."}
        json_answer(refused, 400)(received, sock)
        return
    email, scope = claims["iss"], claims["scope"]
    document = {"access_token": f"{email} {scope}", "expires_in": 3599, "token_type": "Bearer"}
    json_answer(document)(received, sock)


def failure(**options: str) -> CredentialUnavailable:
    with pytest.raises(CredentialUnavailable) as raised:
        fetch({**OPTIONS, **options})
    return raised.value


def test_a_service_account_proves_itself_by_its_key(server: Recorder, tmp_path: Path) -> None:
    server.speak = google
    values, expires = fetch({**OPTIONS, "file": service_account(tmp_path, server.url)})
    assert values == {"token": f"gateway@p.iam.gserviceaccount.com {SCOPE}"}
    assert expires is not None
    assert abs(expires - time.time() - 3599) < 60


def test_another_key_is_refused_and_the_answer_is_named(server: Recorder, tmp_path: Path) -> None:
    server.speak = google
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    failed = failure(file=service_account(tmp_path, server.url, other))
    assert failed.words == "Google's token server gave no token"
    assert "invalid_grant: Invalid JWT Signature." in failed.detail
    assert failed.lasting


def test_a_clock_that_is_wrong_is_named_by_the_server(server: Recorder, tmp_path: Path) -> None:
    text = "Invalid JWT: Token must be a short-lived token (60 minutes)"
    server.speak = json_answer({"error": "invalid_grant", "error_description": text}, 400)
    assert text in failure(file=service_account(tmp_path, server.url)).detail


def test_a_server_that_fails_is_asked_again_later(server: Recorder, tmp_path: Path) -> None:
    server.speak = json_answer({"error": "internal_failure"}, 500)
    assert not failure(file=service_account(tmp_path, server.url)).lasting


def test_an_answer_without_a_token_is_a_failure(server: Recorder, tmp_path: Path) -> None:
    server.speak = json_answer({"token_type": "Bearer"})
    failed = failure(file=service_account(tmp_path, server.url))
    assert failed.words == "Google's token server gave no token"


def test_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    port = free_port()
    failed = failure(file=service_account(tmp_path, f"http://127.0.0.1:{port}"))
    assert failed.words == "Google's token server cannot be reached"
    assert str(port) in failed.detail
    assert not failed.lasting


def test_a_file_that_is_no_key_is_named(tmp_path: Path) -> None:
    file = written(tmp_path, type="service_account", client_email="a", token_uri="b")
    failed = failure(file=file)
    assert failed.lasting
    assert file in failed.detail


def test_a_workload_identity_exchanges_its_token(server: Recorder, tmp_path: Path) -> None:
    (tmp_path / "subject").write_text("kubernetes-token")
    exchanged = {
        "access_token": "federated",
        "issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
        "token_type": "Bearer",
        "expires_in": 600,
    }
    server.speak = by_path({"/v1/token": json_answer(exchanged)})
    file = written(
        tmp_path,
        type="external_account",
        audience="//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/k",
        subject_token_type="urn:ietf:params:oauth:token-type:jwt",
        token_url=f"{server.url}/v1/token",
        credential_source={"file": str(tmp_path / "subject")},
    )
    values, expires = fetch({**OPTIONS, "file": file})
    assert values == {"token": "federated"}
    assert expires is not None
    form = form_of(server.last)
    assert (form["subject_token"], form["scope"]) == ("kubernetes-token", SCOPE)
    assert form["grant_type"] == "urn:ietf:params:oauth:grant-type:token-exchange"


def test_default_credentials_are_the_file_that_the_environment_names(
    server: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.speak = google
    file = service_account(tmp_path, server.url)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
    assert fetch(OPTIONS)[0]["token"].startswith("gateway@")


def test_a_file_that_the_environment_names_and_that_is_not_there_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/no/such/key.json")
    failed = failure()
    assert failed.words == "no Google credentials were found"
    assert "/no/such/key.json" in failed.detail
    assert failed.lasting


def test_missing_credentials_are_reported() -> None:
    failed = failure()
    assert failed.words == "no Google credentials were found"
    assert failed.lasting


def test_default_credentials_are_those_of_the_machine(
    server: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.speak = google_machine
    # google-auth reads these variables when it is imported.
    monkeypatch.delenv("NO_GCE_CHECK")
    for name in ("GCE_METADATA_HOST", "GCE_METADATA_IP"):
        monkeypatch.setenv(name, f"127.0.0.1:{server.port}")
    token = helper_process.fetch("engine.credentials.fetchers.google", OPTIONS)
    assert token.values == {"token": "google-machine"}
    assert abs(token.expires - time.time() - 1800) < 60
