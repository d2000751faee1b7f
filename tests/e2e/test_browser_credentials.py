"""A real gateway and tokens that browsers attach by themselves: cookies and HTTP Basic."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator

import pytest

from tests.support.recording import HttpAnswer, Recorder, ask, recorder, request
from tests.support.running import ALL, TOKENS, Running, gateway

DOCUMENT = """
openapi: 3.1.0
info: {title: Things, version: "1"}
servers: [{url: /api}]
paths:
  /things:
    post:
      operationId: post
      requestBody: {content: {application/x-www-form-urlencoded: {schema: {type: object}}}}
      responses: {default: {description: anything}}
  /live:
    get:
      operationId: live
      responses: {"101": {description: a WebSocket}}
"""
CONFIG = """
version: 1
server: {listen: "{listen}"}
cors: {origins: ["https://app.example.com"]}
specs: {things: {document: things.yaml, token: [basic, {cookie: session}]}}
upstreams: {one: {url: "UPSTREAM/api", proxy: ""}}
routes: [{operations: [things.post, things.live], to: [{upstream: one}]}]
"""
FORM = "application/x-www-form-urlencoded"
COOKIE = f"Cookie: session={ALL}"
UPGRADE = [
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
]


@pytest.fixture(scope="module")
def gateway_and_upstream(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Running, Recorder]]:
    folder = tmp_path_factory.mktemp("browser")
    (folder / "things.yaml").write_text(DOCUMENT)
    with recorder() as upstream:
        text = CONFIG.replace("UPSTREAM", upstream.url) + TOKENS
        with gateway(folder, text) as running:
            yield running, upstream


@pytest.mark.parametrize("socket", [False, True], ids=["form", "websocket"])
@pytest.mark.parametrize(
    ("origins", "allowed"),
    [
        (["Origin: https://evil.example.com"], False),
        (["Origin: null"], False),
        (["Origin: https://evil.example.com", "Sec-Fetch-Site: cross-site"], False),
        (["Sec-Fetch-Site: same-site"], False),
        (["Origin: https://app.example.com", "Sec-Fetch-Site: cross-site"], True),
        (["Origin: http://gateway"], True),
        (["Origin: http://x", "Sec-Fetch-Site: same-origin"], True),
        ([], True),
    ],
)
def test_a_cookie_opens_nothing_for_another_page(
    gateway_and_upstream: tuple[Running, Recorder], socket: bool, origins: list[str], allowed: bool
) -> None:
    running, upstream = gateway_and_upstream
    upstream.reset()
    headers = [COOKIE, *origins, *(UPGRADE if socket else [])]
    target, body = ("/api/live", None) if socket else ("/api/things", b"a=b")
    response = ask(running.port, request(target, body, headers=headers, media_type=FORM))
    assert (len(upstream.requests) == 1) is allowed
    assert (response.status != 403) is allowed
    if not allowed:
        assert response.json()["error"]["code"] == "origin_not_allowed"


def test_the_password_of_http_basic_is_the_token(
    gateway_and_upstream: tuple[Running, Recorder],
) -> None:
    running, upstream = gateway_and_upstream
    upstream.reset()

    def post(pair: str, *more: str) -> HttpAnswer:
        headers = [f"Authorization: Basic {b64encode(pair.encode()).decode()}", *more]
        data = request("/api/things", b"a=b", headers=headers, media_type=FORM)
        return ask(running.port, data)

    assert post(f"anybody:{ALL}").status == 200
    assert "authorization" not in upstream.last.names()
    refusal = post(f"{ALL}:wrong")
    assert refusal.status == 401
    assert refusal.value("www-authenticate").startswith("Basic realm=")
    assert post(f"x:{ALL}", "Origin: https://evil.example.com").status == 403
    assert len(upstream.requests) == 1
