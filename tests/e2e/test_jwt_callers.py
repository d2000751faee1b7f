"""Bearers of another issuer's tokens: the gateway fetches the issuer's keys, and ends what outlives
a token."""

import json
import signal
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

from tests.support.recording import (
    PATIENCE,
    ReceivedRequest,
    Wire,
    answer,
    ask,
    assert_error,
    recorder,
)
from tests.support.running import Running, gateway
from tests.support.signed_tokens import claims, ec_key, key_set, token
from tests.support.small import COMPLETION, chat, project

EVENT = b'data: {"choices": [{"index": 0, "delta": {"content": "a"}}]}\n\n'
ROUTES = {
    "chat": "[]",
    "tenant": "[rate_limit: {requests: 2, per: 1h, by: {claim: tenant}, missing: refuse}]",
}
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + EVENT


@dataclass
class World:
    """An issuer and an upstream at one address; a stream of it goes on until `finish`."""

    finish: threading.Event = field(default_factory=threading.Event)
    url: str = ""
    numbers: Iterator[int] = field(default_factory=count)

    def __call__(self, received: ReceivedRequest, sock: socket.socket) -> None:
        if received.target == "/issuer/keys":
            body: object = {"keys": key_set()}
        elif received.target.startswith("/issuer"):
            body = {"issuer": self.issuer, "jwks_uri": f"{self.url}/issuer/keys"}
        elif b'"stream": true' in received.body:
            sock.sendall(STREAM)
            self.finish.wait(PATIENCE)
            return
        else:
            body = COMPLETION
        answer(json.dumps(body).encode())(received, sock)

    @property
    def issuer(self) -> str:
        return f"{self.url}/issuer"

    def token(self, **changes) -> str:
        groups = [str(next(self.numbers))]  # a count of its own in the limit of the config
        return token(claims(**{"iss": self.issuer, "groups": groups} | changes))


@dataclass
class Deployment:
    running: Running
    world: World
    upstream: object
    file: Path

    def ask(self, secret: str, route: str = "chat"):
        return ask(self.running.port, chat(route, token=secret))


@pytest.fixture(scope="module")
def deployment(tmp_path_factory):
    folder = tmp_path_factory.mktemp("jwt")
    world = World()
    with recorder() as upstream:
        world.url, upstream.speak = upstream.url, world
        more = f"""
policies: [rate_limit: {{requests: 3, per: 1h, by: {{claim: "groups[0]"}}}}]
stores: {{token_ttl: 1s}}
callers:
  jwt:
    - issuer: {world.issuer}
      audience: modelway
      leeway: 0s
      claims: {{models: models, rate: rate}}
      models: [one]
    - {{issuer: "http://127.0.0.1:9", audience: modelway, prefix: "away:"}}
"""
        text = project(folder, upstream.url, ROUTES, workers=1, more=more)
        with gateway(folder, text) as running:
            yield Deployment(running, world, upstream, folder / "gateway.yaml")
            world.finish.set()


def test_a_bearer_is_served_and_the_token_goes_no_further(deployment):
    secret = deployment.world.token()
    assert deployment.ask(secret).status == 200
    received = deployment.upstream.requests[-1]
    assert secret not in str(received.headers)
    assert secret not in deployment.running.output()


def test_what_a_claim_does_not_allow_is_refused(deployment):
    response = deployment.ask(deployment.world.token(models=["two"]))
    assert response.status in (403, 404)


def test_a_limit_of_a_claim_is_kept(deployment):
    secret = deployment.world.token(sub="bob", rate="1/1h")
    assert [deployment.ask(secret).status for _ in range(3)] == [200, 429, 429]


def test_a_limit_of_a_route_counts_by_a_claim_that_only_the_route_names(deployment):
    secrets = [deployment.world.token(sub=name, tenant="acme") for name in ("dan", "eve")]
    assert [deployment.ask(secret, "tenant").status for secret in secrets * 2] == [
        200,
        200,
        429,
        429,
    ]
    other = deployment.world.token(sub="dan", tenant="other")
    assert deployment.ask(other, "tenant").status == 200
    assert_error(deployment.ask(deployment.world.token(), "tenant"), 400, "limit_name_missing")


def test_a_limit_of_the_config_counts_by_a_claim(deployment):
    secrets = [deployment.world.token(sub=name, groups=["ops"]) for name in ("fay", "gus")]
    assert [deployment.ask(secret).status for secret in secrets * 2] == [200, 200, 200, 429]
    message = deployment.ask(secrets[0]).json()["error"]["message"]
    assert message == "Limit reached: 3 requests per 1 hour for this claim groups[0]."


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"aud": "another"}, "another audience"),
        ({"exp": 1}, "has expired"),
        ({"iss": "https://evil.example"}, "issuer"),
    ],
)
def test_a_token_that_is_not_valid_is_refused_with_the_reason(deployment, changes, message):
    response = deployment.ask(deployment.world.token(**changes))
    assert_error(response, 401, "invalid_api_key")
    assert message in response.json()["error"]["message"]


def test_a_forged_token_is_refused(deployment):
    payload = claims(iss=deployment.world.issuer)
    assert deployment.ask(token(payload, key=ec_key(1))).status == 401


def test_an_issuer_that_does_not_answer_is_no_fault_of_the_caller(deployment):
    response = deployment.ask(deployment.world.token(iss="http://127.0.0.1:9"))
    assert_error(response, 503, "keys_unavailable")


def last_event(deployment, secret: str, after_first) -> bytes:
    """The end of a stream that is open when `after_first` is called."""
    with Wire(deployment.running.port) as wire:
        wire.send(chat(token=secret, stream=True))
        assert wire.head()[0] == 200
        pieces = wire.pieces()
        assert EVENT in next(pieces)
        after_first()
        rest: list[bytes] = []
        with pytest.raises(EOFError, match="broke off"):  # it is cut: not a clean end
            rest.extend(pieces)
        return b"".join(rest)


def test_a_stream_ends_when_its_token_expires(deployment):
    deployment.world.finish.clear()
    expiry = int(time.time()) + 6
    secret = deployment.world.token(exp=expiry)
    assert b"invalid_api_key" in last_event(deployment, secret, lambda: None)
    assert time.time() >= expiry
    assert not deployment.world.finish.is_set()
    assert deployment.ask(secret).status == 401


@pytest.mark.parametrize(
    ("changes", "line"),
    [({"jti": "stolen"}, "revoked: [stolen]"), ({"sub": "mallory"}, "revoked_subjects: [mallory]")],
)
def test_a_stream_ends_when_a_reload_revokes_its_token_or_subject(deployment, changes, line):
    world = deployment.world
    secret = world.token(**changes)

    def revoke() -> None:
        text = deployment.file.read_text()
        revoked = text.replace("leeway: 0s", f"leeway: 0s\n      {line}")
        deployment.file.write_text(revoked)
        deployment.running.process.send_signal(signal.SIGHUP)

    assert b"invalid_api_key" in last_event(deployment, secret, revoke)
    assert not world.finish.is_set()
    response = deployment.ask(secret)
    assert_error(response, 401, "invalid_api_key")
    assert "revoked" in response.json()["error"]["message"]


def test_a_stream_ends_when_a_reload_removes_its_issuer(deployment):
    world = deployment.world
    secret = world.token(sub="carol")

    def remove() -> None:
        text = deployment.file.read_text()
        deployment.file.write_text(text.replace(world.issuer, "http://127.0.0.1:8"))
        deployment.running.process.send_signal(signal.SIGHUP)

    assert b"invalid_api_key" in last_event(deployment, secret, remove)
    assert not world.finish.is_set()
    assert "issuer" in deployment.ask(secret).json()["error"]["message"]
