"""Request bodies: timeout, 100-continue after authentication, malformed bodies."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest

from tests.support.recording import Recorder, Wire, answer, ask, assert_error, recorder, request
from tests.support.running import ALL, Running, gateway
from tests.support.small import COMPLETION, project
from tests.support.waiting import PATIENCE

TARGET = "/v1/chat/chat/completions"
BODY = json.dumps({"model": "one", "messages": []}).encode()
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
TOTAL = 1.5
"""Seconds that a body may take."""


@pytest.fixture(scope="module")
def gateway_and_upstream(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Running, Recorder]]:
    folder = tmp_path_factory.mktemp("bodies")
    with recorder() as upstream:
        upstream.speak = answer(json.dumps(COMPLETION).encode())
        text = project(folder, upstream.url, {"chat": "[]"})
        text = text.replace("workers: 2", f"workers: 2, request_timeout: {TOTAL}s, max_body: 1MB")
        with gateway(folder, text) as running:
            yield running, upstream


@pytest.fixture
def port(gateway_and_upstream: tuple[Running, Recorder]) -> Iterator[int]:
    running, upstream = gateway_and_upstream
    upstream.requests.clear()
    yield running.port
    assert "Traceback" not in running.output()
    assert ask(running.port, request(TARGET, BODY, token=ALL)).status == 200


def head(*headers: str, target: str = TARGET, method: str = "POST", token: str = ALL) -> bytes:
    lines = [f"{method} {target} HTTP/1.1", "Host: gateway", "Content-Type: application/json"]
    lines += [f"Authorization: Bearer {token}"] if token else []
    return "\r\n".join([*lines, *headers, "", ""]).encode()


@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunked"])
@pytest.mark.parametrize("target", [TARGET, "/", "/healthz"])
def test_a_body_that_never_ends_is_408(port: int, target: str, chunked: bool) -> None:
    framing = "Transfer-Encoding: chunked" if chunked else "Content-Length: 60000"
    method = "POST" if target == TARGET else "GET"
    with Wire(port) as wire:
        wire.send(head(framing, target=target, method=method))
        start = time.monotonic()
        wire.sock.settimeout(0.05)
        while time.monotonic() < start + 20:
            wire.send(b"1\r\n \r\n" if chunked else b" ")
            try:
                if wire.sock.recv(1, 2):  # MSG_PEEK
                    break
            except TimeoutError:
                continue
        wire.sock.settimeout(PATIENCE)
        assert_error(wire.answer(), 408, "request_timeout")
        assert time.monotonic() - start >= TOTAL - 0.1
        assert wire.rest() == b""


def test_100_continue_comes_when_the_token_is_known(port: int) -> None:
    with Wire(port) as wire:
        wire.send(head("Expect: 100-continue", f"Content-Length: {len(BODY)}"))
        assert wire.sock.recv(len(CONTINUE)) == CONTINUE
        wire.send(BODY)
        assert wire.answer().status == 200
        wire.send(request(TARGET, BODY, token=ALL))  # the connection goes on
        assert wire.answer().status == 200


@pytest.mark.parametrize("framing", [f"Content-Length: {len(BODY)}", "Transfer-Encoding: chunked"])
@pytest.mark.parametrize(
    ("target", "token", "status"),
    [
        (TARGET, "", 401),
        (TARGET, "mw-unknown", 401),
        ("/v1/nowhere", ALL, 404),
        ("/v1/nowhere", "", 404),
    ],
)
def test_a_refused_request_gets_no_100_continue(
    port: int, target: str, token: str, status: int, framing: str
) -> None:
    data = head("Expect: 100-continue", framing, target=target, token=token)
    with Wire(port) as wire:
        wire.send(data)
        response = wire.answer()
        assert (response.status, response.closed) == (status, True)
        # These bytes could be a body or a request: they must be read as neither.
        wire.send(request("/healthz"))
        assert wire.rest() == b""


def test_a_body_that_is_too_large_gets_no_100_continue(port: int) -> None:
    with Wire(port) as wire:
        wire.send(head("Expect: 100-continue", "Content-Length: 2000000"))
        response = wire.answer()
        assert (response.status, response.closed) == (413, True)


def test_without_a_body_there_is_nothing_to_continue(port: int) -> None:
    with Wire(port) as wire:
        wire.send(head("Expect: 100-continue", target="/healthz", method="GET"))
        assert wire.answer().status == 200
        wire.send(request("/healthz"))
        assert wire.answer().status == 200


def test_a_body_that_comes_without_waiting_is_taken(port: int) -> None:
    with Wire(port) as wire:
        wire.send(head("Expect: 100-continue", f"Content-Length: {len(BODY)}") + BODY)
        assert wire.sock.recv(len(CONTINUE)) == CONTINUE
        assert wire.answer().status == 200


def test_http_1_0_knows_no_100_continue(port: int) -> None:
    data = head("Expect: 100-continue", f"Content-Length: {len(BODY)}") + BODY
    assert ask(port, data.replace(b"HTTP/1.1", b"HTTP/1.0", 1)).status == 200


PAGES = ["/", "/docs", "/openapi.json", "/console/playground", "/console/models.json", "/healthz"]
MALFORMED = {
    "size is no number": b"ZZ\r\n",
    "chunk without its end": b"2\r\n{}0\r\n\r\n",
    "size is negative": b"-2\r\n{}\r\n0\r\n\r\n",
    "bare line feed": b"2\n{}\r\n0\r\n\r\n",
    "trailer is none": b"0\r\nno colon\r\n\r\n",
}


@pytest.mark.parametrize("case", MALFORMED)
@pytest.mark.parametrize("target", PAGES)
def test_a_malformed_body_for_a_page_is_400_and_cut(port: int, target: str, case: str) -> None:
    with Wire(port) as wire:
        wire.send(head("Transfer-Encoding: chunked", target=target, method="GET"))
        wire.send(MALFORMED[case])
        response = wire.answer()
        assert_error(response, 400)
        assert response.closed
        assert wire.rest() == b""


@pytest.mark.parametrize("case", MALFORMED)
@pytest.mark.parametrize("target", ["/metrics", "/readyz", "/healthz", "/nowhere"])
def test_a_malformed_body_is_refused_on_the_telemetry_listener(
    gateway_and_upstream: tuple[Running, Recorder], port: int, target: str, case: str
) -> None:
    with Wire(gateway_and_upstream[0].telemetry) as wire:
        wire.send(head("Transfer-Encoding: chunked", target=target, method="GET"))
        wire.send(MALFORMED[case])
        response = wire.answer()
        assert (response.status, response.closed) == (404 if target == "/nowhere" else 400, True)
        assert wire.rest() == b""


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("target", [*PAGES, "/v1/nowhere"])
def test_a_malformed_body_for_an_unknown_path_is_refused_and_cut(
    port: int, target: str, method: str
) -> None:
    with Wire(port) as wire:
        wire.send(head("Transfer-Encoding: chunked", target=target, method=method) + b"ZZ\r\n")
        response = wire.answer()
        assert response.status in (400, 404, 405)
        assert response.closed
        assert wire.rest() == b""


@pytest.mark.parametrize("framing", ["Content-Length: 2", "Transfer-Encoding: chunked"])
@pytest.mark.parametrize("target", PAGES)
def test_a_sound_body_for_a_page_is_read_and_the_connection_goes_on(
    port: int, target: str, framing: str
) -> None:
    body = b"2\r\n{}\r\n0\r\n\r\n" if "chunked" in framing else b"{}"
    with Wire(port) as wire:
        for _ in range(2):
            wire.send(head(framing, target=target, method="GET") + body)
            page = wire.answer()
            assert (page.status, page.closed) == (200, False)


def test_a_huge_body_for_a_page_is_413(port: int) -> None:
    with Wire(port) as wire:
        wire.send(head("Content-Length: 500000", target="/healthz", method="GET"))
        response = wire.answer()
        assert (response.status, response.closed) == (413, True)
