"""Response headers of an upstream that command proxies or browsers are removed."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.support.ports import free_port
from tests.support.recorded import RecordedGateway, recorded_gateway
from tests.support.recording import ANSWER, PATIENCE, Recorder, answer, ask, recorder, request
from tests.support.running import ALL, TOKENS
from tests.support.scripted import script
from tests.support.waiting import under_load

CONFIG = """
version: 1
server: {listen: "{listen}", workers: 1}
specs:
  chat: {document: chat.yaml, dialect: openai}
  things: {document: things.yaml}
upstreams:
  vendor: {url: "${UPSTREAM}/v1", dialect: openai, proxy: ""}
  things: {url: "${UPSTREAM}/base", proxy: ""}
models:
  m: {to: [{upstream: vendor}]}
routes:
  - {operation: chat.create, model: $request.body#/model}
  - {operation: things.get, to: [{upstream: things}]}
  - {operation: things.list, to: [{upstream: vendor}]}
"""
CHAT = """
openapi: 3.1.0
info: {title: Chat, version: "1"}
servers: [{url: /v1}]
paths:
  /chat/completions:
    post:
      operationId: create
      requestBody: {content: {application/json: {schema: {type: object}}}}
      responses:
        "200":
          description: fine
          headers: {X-Declared: {schema: {type: string}}}
        "4XX": {$ref: "#/components/responses/Refused"}
components:
  responses:
    Refused: {description: no, headers: {X-Declared-Too: {schema: {type: string}}}}
"""
THINGS = """
openapi: 3.1.0
info: {title: Things, version: "1"}
servers: [{url: /things}]
paths:
  /one: {get: {operationId: get, responses: {"200": {description: fine}}}}
  /all: {get: {operationId: list, responses: {"200": {description: fine}}}}
"""
REQUEST = b'{"model":"m","messages":[]}'
COMMANDS = (
    *("X-Accel-Redirect: /internal/secret.txt", "X-Accel-Limit-Rate: 1", "X-Sendfile: /etc/passwd"),
    *("X-Lighttpd-Send-File: /etc/passwd", "X-LiteSpeed-Location: /secret", "X-Reproxy-URL: x"),
    *('Clear-Site-Data: "*"', "Refresh: 0; url=https://evil.example", "Via: 1.1 up", "Server: up"),
    *("X-Powered-By: up", "Strict-Transport-Security: max-age=1", "Alt-Svc: h3=evil.example:443"),
    *("Content-Security-Policy: report-uri https://evil.example", "Set-Cookie: session=upstream"),
    *("Content-Security-Policy-Report-Only: default-src x", "WWW-Authenticate: Basic realm=x"),
    *("Report-To: {}", "NEL: {}", "Service-Worker-Allowed: /", "SourceMap: https://evil.example/x"),
    *("Access-Control-Allow-Origin: *", "Location: https://evil.example/", "Surrogate-Control: x"),
    *("Content-Location: //evil.example/", "Link: <https://evil.example>; rel=preload; as=script"),
    *("Public-Key-Pins: x", "X-Envoy-Immediate-Health-Check-Fail: true", "Fly-Replay: app=x"),
)
COMMANDED = {line.partition(":")[0].lower() for line in COMMANDS}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecordedGateway]:
    folder = tmp_path_factory.mktemp("headers")
    (folder / "chat.yaml").write_text(CHAT)
    (folder / "things.yaml").write_text(THINGS)
    with recorded_gateway(folder, CONFIG + TOKENS) as running:
        yield running


REQUESTS = {
    "chat": request("/v1/chat/completions", REQUEST, token=ALL),
    "other API": request("/things/one", token=ALL),
    "other API at a vendor": request("/things/all", token=ALL),
}
ROUTES = pytest.mark.parametrize("route", sorted(REQUESTS))


@ROUTES
@pytest.mark.parametrize("status", [200, 400, 404, 500])
def test_commands_to_a_proxy_or_a_browser_stay_here(
    port: int, upstream: Recorder, route: str, status: int
) -> None:
    upstream.speak = answer(ANSWER, ("Content-Type: application/json", *COMMANDS), status)
    response = ask(port, REQUESTS[route])
    assert response.status == status
    assert not COMMANDED & {name for name, _ in response.headers}


def test_commands_in_the_head_of_a_stream_stay_here(port: int, upstream: Recorder) -> None:
    body = b'data: {"choices":[{"delta":{"content":"hi"}}]}\n\ndata: [DONE]\n\n'
    upstream.speak = answer(body, ("Content-Type: text/event-stream", *COMMANDS))
    streamed = REQUEST.replace(b"{", b'{"stream":true,', 1)
    response = ask(port, request("/v1/chat/completions", streamed, token=ALL))
    assert not COMMANDED & {name for name, _ in response.headers}
    assert response.value("x-accel-buffering") == "no"


@ROUTES
def test_commands_in_an_interim_answer_and_in_trailers_stay_here(
    port: int, upstream: Recorder, route: str
) -> None:
    lines = "\r\n".join(COMMANDS)
    upstream.speak = script(
        f"HTTP/1.1 103 Early Hints\r\n{lines}\r\n\r\n".encode(),
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n",
        b"Trailer: X-Accel-Redirect\r\n\r\n",
        b"%x\r\n%b\r\n0\r\n%b\r\n\r\n" % (len(ANSWER), ANSWER, lines.encode()),
    )
    response = ask(port, REQUESTS[route])
    assert (response.status, response.body) == (200, ANSWER)
    assert not COMMANDED & {name for name, _ in response.headers}


def test_what_the_document_declares_passes(port: int, upstream: Recorder) -> None:
    headers = ("Content-Type: application/json", "X-Declared: 1", "X-Declared-Too: 2", "X-Other: 3")
    upstream.speak = answer(ANSWER, headers)
    response = ask(port, REQUESTS["chat"])
    assert (response.value("x-declared"), response.value("x-declared-too")) == ("1", "2")
    assert response.values("x-other") == []


def test_urls_of_the_upstream_in_headers_become_those_of_the_gateway(
    port: int, upstream: Recorder
) -> None:
    upstream.speak = answer(
        b"",
        (
            f"Location: {upstream.url}/base/two?x=1",
            "Content-Location: two",
            "Link: </base/three>; rel=next, </base/x.css>; rel=stylesheet",
        ),
        302,
    )
    response = ask(port, REQUESTS["other API"])
    assert response.value("location") == "/things/two?x=1"
    assert response.value("content-location") == "/things/two"
    assert response.value("link") == "</things/three>; rel=next"


NGINX = """
daemon off; master_process off; error_log {folder}/error.log; pid {folder}/nginx.pid;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port};
    location /internal/ {{ internal; alias {folder}/internal/; }}
    location / {{ proxy_pass http://127.0.0.1:{behind}; }}
  }}
}}
"""


@contextmanager
def nginx(folder: Path, behind: int) -> Iterator[int]:
    """nginx with an internal file, before a server on the port `behind`; its own port."""
    program = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
    if program is None:
        pytest.skip("no nginx here; `apt-get install nginx-light` brings one")
    (folder / "internal").mkdir()
    (folder / "internal" / "secret.txt").write_text("the internal file")
    port = free_port()
    config = folder / "nginx.conf"
    config.write_text(NGINX.format(folder=folder, port=port, behind=behind))
    process = subprocess.Popen([program, "-c", config, "-p", folder])
    try:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            assert process.poll() is None, "nginx did not start"
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.02)
        yield port
    finally:
        process.kill()
        process.wait(under_load())


@ROUTES
def test_nginx_in_front_serves_none_of_its_internal_files(
    tmp_path: Path, port: int, upstream: Recorder, route: str
) -> None:
    upstream.speak = answer(ANSWER, ("Content-Type: application/json", *COMMANDS))
    with nginx(tmp_path, port) as front:
        response = ask(front, REQUESTS[route])
    assert (response.status, response.body) == (200, ANSWER)


def test_nginx_serves_its_internal_file_where_nothing_stops_the_command(tmp_path: Path) -> None:
    with recorder() as upstream, nginx(tmp_path, upstream.port) as front:
        upstream.speak = answer(ANSWER, COMMANDS[:1])
        assert ask(front, request("/")).body == b"the internal file"
