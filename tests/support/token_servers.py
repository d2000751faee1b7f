"""Token servers on this machine: what they answer, and what they were asked."""

from __future__ import annotations

import json
import socket
import ssl
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
    """The fields of a form body, none of which may be repeated."""
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
