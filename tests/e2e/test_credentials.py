"""Fetched tokens and client certificates through a real gateway."""

from __future__ import annotations

import datetime
import json
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from engine.process.runtime_dir import runtime_directory
from engine.values.upstream_request import UpstreamRequest
from tests.support.peer import Authority
from tests.support.recording import ReceivedRequest, Recorder, Wire, answer, ask, recorder, request
from tests.support.running import Running, gateway
from tests.support.scripted import CLOSE, in_turn, script
from tests.support.signing import KEYS, by_botocore
from tests.support.token_servers import (
    aws_instance,
    azure_machine,
    by_path,
    form_of,
    google_machine,
    json_answer,
    numbered,
    tls_context,
)

CONFIG = """version: 1
server: {listen: "{listen}", workers: 2}
specs: {api: {document: api.yaml, dialect: openai}}
upstreams:
  main:
    url: %(upstream)s
    proxy: ""
    credential:
      oauth2: {token_url: "%(tokens)s/token", client: gateway, secret: "${SECRET}", scope: chat}
  spare: {url: "%(upstream)s/spare", proxy: "", credential: {bearer: spare-key}}
routes:
  - {operation: api.ask, to: [{upstream: main}], auth: none}
  - {operation: api.askEither, to: [{upstream: main}, {upstream: spare}], auth: none}
"""
SECRET = "s3cr3t-of-the-client"
PATHS = {
    f"/{name}": {"get": {"operationId": id_, "responses": {"200": {"description": "fine"}}}}
    for name, id_ in (("ask", "ask"), ("either", "askEither"))
}
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "API", "version": "1"},
    "servers": [{"url": "https://api.test/v1"}],
    "paths": PATHS,
}


class Stage:
    """A gateway between an upstream and a token server."""

    def __init__(self, running: Running, upstream: Recorder, tokens: Recorder) -> None:
        self.running = running
        self.upstream = upstream
        self.tokens = tokens

    def ask(self, name: str = "ask") -> Any:
        return ask(self.running.port, request(f"/v1/{name}"))

    def credentials_received(self) -> list[str]:
        """The credentials that the upstream got."""
        return [v for each in self.upstream.requests for v in each.values("authorization")]


@contextmanager
def serving(folder: Path) -> Iterator[Stage]:
    (folder / "api.yaml").write_text(json.dumps(DOCUMENT))
    with recorder() as upstream, recorder() as tokens:
        tokens.speak = numbered()
        urls = {"upstream": upstream.url, "tokens": tokens.url}
        with gateway(folder, CONFIG % urls, {"SECRET": SECRET}) as running:
            yield Stage(running, upstream, tokens)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with serving(tmp_path) as running:
        yield running


def test_a_token_is_fetched_once_for_all_workers(stage: Stage) -> None:
    assert {stage.ask().status for _ in range(20)} == {200}
    assert set(stage.credentials_received()) == {"Bearer token-1"}
    [asked] = stage.tokens.requests
    assert form_of(asked)["scope"] == "chat"


def test_a_revoked_token_is_fetched_anew_once(stage: Stage) -> None:
    def revoked(received: Any, sock: Any) -> None:
        is_revoked = received.values("authorization") == ["Bearer token-1"]
        (json_answer({"error": "revoked"}, 401) if is_revoked else answer())(received, sock)

    stage.ask()
    stage.upstream.speak = revoked
    assert stage.ask().status == 200
    assert stage.credentials_received()[-2:] == ["Bearer token-1", "Bearer token-2"]
    stage.upstream.speak = json_answer({"error": "forbidden"}, 403)
    for _ in range(5):
        assert stage.ask().json()["error"]["code"] == "upstream_credentials"
    assert len(stage.tokens.requests) <= 3  # each of two workers may fetch once a minute


def test_a_failure_of_the_token_server_is_named(stage: Stage) -> None:
    error_body = {"error": "invalid_client", "error_description": f"not {SECRET}"}
    stage.tokens.speak = json_answer(error_body, 401)
    response = stage.ask()
    error = response.json()["error"]
    assert (response.status, error["code"]) == (502, "upstream_credentials")
    assert "the token server answered 401 invalid_client: not [redacted]." in error["message"]
    assert f"{stage.tokens.url}/token" in stage.running.output()
    assert SECRET not in stage.running.output()
    assert stage.upstream.requests == []


def test_the_next_target_takes_its_place(stage: Stage) -> None:
    stage.tokens.speak = json_answer({}, 500)
    assert {stage.ask("either").status for _ in range(4)} == {200}
    assert set(stage.credentials_received()) == {"Bearer spare-key"}
    assert stage.ask().status == 503


def test_a_token_is_neither_logged_nor_relayed(stage: Stage) -> None:
    def repeat(received: Any, sock: Any) -> None:
        [token] = received.values("authorization")
        json_answer({"error": {"message": f"{token} is not enough"}}, 400)(received, sock)

    stage.upstream.speak = repeat
    response = stage.ask()
    assert response.status == 400
    assert b"[redacted] is not enough" in response.body
    assert "token-1" not in stage.running.output()


def test_no_file_of_a_token_is_open_to_others(stage: Stage) -> None:
    stage.ask()
    folder = runtime_directory(Path(stage.running.log).parent / "gateway.yaml")
    files = [path for path in folder.iterdir() if path.name.startswith("token-")]
    assert files
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


MUTUAL = """version: 1
server: {listen: "{listen}", workers: 1}
specs: {api: {document: api.yaml, dialect: openai}}
upstreams:
  main:
    url: %s
    proxy: ""
    pool: 0
    tls: {ca: ca.pem, certificate: gateway.pem, key: gateway.key}
routes:
  - {operation: api.ask, to: [{upstream: main}], auth: none}
"""


def test_a_client_certificate_is_shown_and_renewed_without_a_restart(tmp_path: Path) -> None:
    (tmp_path / "api.yaml").write_text(json.dumps(DOCUMENT))
    authority = Authority(tmp_path)
    authority.issue("gateway")
    credentials_seen: list[str] = []

    def note(received: Any, sock: Any) -> None:
        credentials_seen.append(sock.getpeercert()["serialNumber"])
        answer()(received, sock)

    tls = tls_context(authority.issue("127.0.0.1"), clients=authority.path)
    with recorder(tls) as upstream:
        upstream.speak = note
        with gateway(tmp_path, MUTUAL % upstream.url) as running:
            for _ in range(2):
                assert ask(running.port, request("/v1/ask")).status == 200
            authority.issue("gateway")
            assert ask(running.port, request("/v1/ask")).status == 200
    first, second, renewed = credentials_seen
    assert first == second
    assert renewed != first


def test_an_upstream_that_requires_a_certificate_refuses_others(tmp_path: Path) -> None:
    (tmp_path / "api.yaml").write_text(json.dumps(DOCUMENT))
    authority = Authority(tmp_path)
    (tmp_path / "other").mkdir()
    stranger = Authority(tmp_path / "other").issue("gateway")
    for path in stranger:
        (tmp_path / Path(path).name).write_bytes(Path(path).read_bytes())
    tls = tls_context(authority.issue("127.0.0.1"), clients=authority.path)
    with recorder(tls) as upstream, gateway(tmp_path, MUTUAL % upstream.url) as running:
        assert ask(running.port, request("/v1/ask")).status == 502
        assert upstream.requests == []


SIGNED = """version: 1
server: {listen: "{listen}", workers: 1, max_body: 10MB}
specs: {api: {document: api.yaml, dialect: openai}}
upstreams:
  main:
    url: %s/base
    proxy: ""
    retry: {attempts: 2}
    credential:
      aws: {region: us-west-2, access_key: AKIDEXAMPLE, secret_key: "${SECRET}"}
routes:
  - {operation: api.ask, to: [{upstream: main}], auth: none}
  - {operation: api.send, to: [{upstream: main}], auth: none, validate: "off"}
"""


@pytest.fixture(scope="module")
def signing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("signing")
    send = {"operationId": "send", "responses": {"200": {"description": "fine"}}}
    body = {"content": {"application/json": {}}}
    document = {
        **DOCUMENT,
        "paths": {**PATHS, "/send/{id}": {"post": {**send, "requestBody": body}}},
    }
    (folder / "api.yaml").write_text(json.dumps(document))
    with (
        recorder() as upstream,
        gateway(folder, SIGNED % upstream.url, {"SECRET": KEYS.secret_key}) as running,
    ):
        yield Stage(running, upstream, upstream)


def assert_signed(received: ReceivedRequest) -> None:
    """That botocore makes the same signature of what arrived."""
    headers_received = dict(received.headers)
    names = (
        headers_received["authorization"]
        .partition("SignedHeaders=")[2]
        .partition(",")[0]
        .split(";")
    )
    path, _, query = received.target.partition("?")
    headers = [(n, headers_received[n]) for n in names if n not in ("host", "x-amz-date")]
    method = received.line.partition(" ")[0]
    again = UpstreamRequest(method, headers_received["host"], path, query, headers, received.body)
    moment = datetime.datetime.strptime(headers_received["x-amz-date"], "%Y%m%dT%H%M%S%z")
    expected = by_botocore(again, KEYS, "us-west-2", "bedrock", moment)
    assert headers_received["authorization"] == expected["authorization"]
    assert {"host", "x-amz-date"} <= set(names)


def test_what_is_sent_is_what_is_signed(signing: Stage) -> None:
    signing.upstream.reset()
    target = "/v1/send/anthropic.claude-v1%3A0?a=b%20c&b=1"
    for body in (b"", b'{"a": 1}', b"[" + b" " * 2_000_000 + b"]"):
        assert ask(signing.running.port, request(target, body)).status == 200
        assert_signed(signing.upstream.last)
        assert signing.upstream.last.body == body
    assert ask(signing.running.port, request("/v1/ask")).status == 200
    assert_signed(signing.upstream.last)


def test_a_retry_is_signed_anew(signing: Stage) -> None:
    signing.upstream.reset()
    signing.upstream.speak = in_turn(answer(b"{}", status=503), answer())
    assert ask(signing.running.port, request("/v1/send/a", b'{"a": 1}')).status == 200
    assert len(signing.upstream.requests) == 2
    for received in signing.upstream.requests:
        assert len(received.values("authorization")) == 1
        assert_signed(received)


MACHINE = """version: 1
server: {listen: "{listen}", workers: 1}
specs: {api: {document: api.yaml, dialect: openai}}
upstreams:
  aws: {url: "%(upstream)s", proxy: "", credential: {aws: {region: us-west-2}}}
  google: {url: "%(upstream)s", proxy: "", credential: {google: {quota_project: p-1}}}
  azure: {url: "%(upstream)s", proxy: "", credential: {azure: {}}}
routes:
  - {operation: api.aws, to: [{upstream: aws}], auth: none}
  - {operation: api.google, to: [{upstream: google}], auth: none}
  - {operation: api.azure, to: [{upstream: azure}], auth: none}
"""


def test_the_identity_of_a_machine_needs_no_secret(tmp_path: Path) -> None:
    fine = {"responses": {"200": {"description": "fine"}}}
    names = ("aws", "google", "azure")
    paths = {f"/{name}": {"get": {"operationId": name, **fine}} for name in names}
    (tmp_path / "api.yaml").write_text(json.dumps({**DOCUMENT, "paths": paths}))
    with recorder() as upstream, recorder() as aws, recorder() as google, recorder() as azure:
        aws.speak, google.speak, azure.speak = aws_instance, google_machine, azure_machine
        environ = {
            "HOME": str(tmp_path),
            "AWS_EC2_METADATA_SERVICE_ENDPOINT": aws.url,
            "GCE_METADATA_HOST": google.url.removeprefix("http://"),
            "GCE_METADATA_IP": google.url.removeprefix("http://"),
            "AZURE_POD_IDENTITY_AUTHORITY_HOST": azure.url,
        }
        with gateway(tmp_path, MACHINE % {"upstream": upstream.url}, environ) as running:
            for name in names:
                response = ask(running.port, request(f"/v1/{name}"))
                assert response.status == 200, (response.body, running.output())
    credentials_received = [each.values("authorization")[0] for each in upstream.requests]
    assert credentials_received[0].startswith("AWS4-HMAC-SHA256 Credential=AKIA1/")
    assert upstream.requests[0].values("x-amz-security-token") == ["session"]
    assert credentials_received[1:] == ["Bearer google-machine", "Bearer azure-machine"]
    assert upstream.requests[1].values("x-goog-user-project") == ["p-1"]


FAILING = """version: 1
server: {listen: "{listen}", workers: 1}
specs: {api: {document: api.yaml, dialect: openai}}
upstreams:
%(upstreams)s
  free: {url: "%(upstream)s", proxy: ""}
routes:
%(routes)s
  - {operation: api.free, to: [{upstream: free}], auth: none}
"""
FAULTS: dict[str, tuple[Any, int, str]] = {
    "broken": (json_answer({}, 500), 503, "the token server answered 500."),
    "garbage": (answer(b"<html>"), 503, "the token server's answer has no access token."),
    "expired": (numbered(life=-1), 503, "its token server returned an expired token."),
    "hung-up": (script(CLOSE), 503, "the token server cannot be reached."),
    "refusing": (
        json_answer({"error": "invalid_client"}, 401),
        502,
        "answered 401 invalid_client.",
    ),
}


def test_faults_of_a_token_server_are_named_and_hold_nobody_else(tmp_path: Path) -> None:
    fine = {"responses": {"200": {"description": "fine"}}}
    names = [*FAULTS, "silent", "free"]
    paths = {f"/{name}": {"get": {"operationId": name, **fine}} for name in names}
    (tmp_path / "api.yaml").write_text(json.dumps({**DOCUMENT, "paths": paths}))
    with recorder() as upstream, recorder() as tokens:
        silent = Event()
        speaks = {f"/{name}": speak for name, (speak, _, _) in FAULTS.items()}
        tokens.speak = by_path({**speaks, "/silent": script(silent)})
        client = '{client: us, secret: s3cr3t, token_url: "%s/%s"}'
        upstreams = [
            f'  {name}: {{url: "{upstream.url}", proxy: "", timeouts: {{total: 5s}}, '
            f"credential: {{oauth2: {client % (tokens.url, name)}}}}}"
            for name in names[:-1]
        ]
        routes = [
            f"  - {{operation: api.{name}, to: [{{upstream: {name}}}], auth: none}}"
            for name in names[:-1]
        ]
        texts = {"upstreams": "\n".join(upstreams), "routes": "\n".join(routes)}
        with (
            gateway(tmp_path, FAILING % {**texts, "upstream": upstream.url}) as running,
            Wire(running.port) as waiting,
        ):
            waiting.send(request("/v1/silent"))
            for name, (_, status, message) in FAULTS.items():
                response = ask(running.port, request(f"/v1/{name}"))
                error = response.json()["error"]
                assert (response.status, error["code"]) == (status, "upstream_credentials")
                assert message in error["message"]
            assert ask(running.port, request("/v1/free")).status == 200
            late = waiting.answer()
            silent.set()
            assert late.status == 503
            assert "its token was not fetched in time" in late.json()["error"]["message"]
        assert len(upstream.requests) == 1
