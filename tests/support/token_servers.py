"""Token servers of OAuth 2.0 and of the clouds' machines, as answers of a Recorder."""

from __future__ import annotations

import datetime
import json
import socket
import ssl
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

from tests.support.peer import Certificate
from tests.support.recording import ReceivedRequest, Speak, answer

JSON = ("Content-Type: application/json",)


def json_answer(document: Any, status: int = 200) -> Speak:
    """An answer of JSON."""
    return answer(json.dumps(document).encode(), JSON, status)


def form_of(request: ReceivedRequest) -> dict[str, str]:
    """The fields of a form body. AssertionError for a repeated field."""
    fields = parse_qs(request.body.decode(), keep_blank_values=True, strict_parsing=True)
    assert all(len(values) == 1 for values in fields.values())
    return {name: values[0] for name, values in fields.items()}


def by_path(answers: dict[str, Speak | Callable[[ReceivedRequest], Speak]]) -> Speak:
    """Answers by the path of the request, 404 for any other."""

    def speak(received: ReceivedRequest, sock: socket.socket) -> None:
        path = received.target.partition("?")[0]
        answers.get(path, answer(b"", status=404))(received, sock)  # type: ignore[call-arg]

    return speak


def numbered(*, token: str = "token", life: float | None = 3600) -> Speak:
    """OAuth 2.0: `token-1`, `token-2`, ..."""
    count = 0

    def speak(received: ReceivedRequest, sock: socket.socket) -> None:
        nonlocal count
        count += 1
        document: dict[str, Any] = {"access_token": f"{token}-{count}", "token_type": "Bearer"}
        if life is not None:
            document["expires_in"] = life
        json_answer(document)(received, sock)

    return speak


def tls_context(certificate: Certificate, clients: str = "") -> ssl.SSLContext:
    """TLS of a server; with `clients`, an authority, it requires their certificates."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    if clients:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(clients)
    return context


def in_an_hour() -> str:
    """The moment in one hour, as AWS writes it."""
    moment = datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=1)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def aws_instance(received: ReceivedRequest, sock: socket.socket) -> None:
    """The metadata service of an AWS instance, version 2: a session token, then the role's keys."""
    if received.line.startswith("PUT /latest/api/token "):
        answer(b"session-of-imds")(received, sock)
        return
    assert received.values("x-aws-ec2-metadata-token") == ["session-of-imds"]
    keys = {"AccessKeyId": "AKIA1", "SecretAccessKey": "s3cr3t", "Token": "session"}
    place = "/latest/meta-data/iam/security-credentials/"
    document = {"Code": "Success", **keys, "Expiration": in_an_hour()}
    by_path({place: answer(b"role"), f"{place}role": json_answer(document)})(received, sock)


_FLAVOR = (*JSON, "Metadata-Flavor: Google")


def google_machine(received: ReceivedRequest, sock: socket.socket) -> None:
    """The metadata server of a machine of Google with the service account `default`."""
    assert received.values("metadata-flavor") == ["Google"]
    account = "/computeMetadata/v1/instance/service-accounts/default"
    token = {"access_token": "google-machine", "expires_in": 1800, "token_type": "Bearer"}
    scope = "https://www.googleapis.com/auth/cloud-platform"
    info = {"email": "default@p.iam.gserviceaccount.com", "scopes": [scope], "aliases": []}
    by_path(
        {
            "/": answer(b"", _FLAVOR),
            "/computeMetadata/v1/project/project-id": answer(b"p", _FLAVOR),
            f"{account}/": answer(json.dumps(info).encode(), _FLAVOR),
            f"{account}/token": answer(json.dumps(token).encode(), _FLAVOR),
            "/computeMetadata/v1/universe/universe-domain": answer(b"googleapis.com", _FLAVOR),
        }
    )(received, sock)


def azure_machine(received: ReceivedRequest, sock: socket.socket) -> None:
    """The metadata service (IMDS) of a virtual machine of Azure."""
    assert received.values("metadata") == ["true"]
    token = {
        "access_token": "azure-machine",
        "expires_in": "3599",
        "expires_on": str(int(time.time()) + 3599),
        "resource": "https://cognitiveservices.azure.com",
        "token_type": "Bearer",
    }
    by_path({"/metadata/identity/oauth2/token": json_answer(token)})(received, sock)
