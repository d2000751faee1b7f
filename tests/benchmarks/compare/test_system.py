"""Where a system is, and what callers send there."""

from __future__ import annotations

import pytest

from benchmarks.compare.system import Endpoint, System, Upstream

BODY = b'{"model":"gpt-4o","messages":[]}'


def test_a_system_may_choose_its_port_by_itself(tmp_path):
    system = System("x", "x 1", ["x"], tmp_path, tmp_path / "port", path="/chats", model="m")
    with pytest.raises(OSError, match="port"):
        _ = system.endpoint
    (tmp_path / "port").write_text("8080")
    assert system.endpoint == Endpoint(8080, ("none",), "/chats", "m")


def test_an_upstream_with_an_authority_is_asked_over_tls(tmp_path):
    assert Upstream(80).origin == "http://127.0.0.1:80"
    assert Upstream(443, tmp_path / "ca.pem").origin == "https://127.0.0.1:443"


def test_an_endpoint_passes_to_another_process():
    endpoint = Endpoint(80, ("a", "b"), "/chats", "m", ("x-provider: openai",))
    assert Endpoint.from_json(endpoint.to_json()) == endpoint


def test_a_request_has_the_model_and_the_headers_of_its_endpoint():
    endpoint = Endpoint(80, ("a", "b"), "/chats", "m", ("x-provider: openai",))
    head, _, body = endpoint.request(BODY).partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /chats HTTP/1.1"
    assert body == b'{"model":"m","messages":[]}'
    assert {"Authorization: Bearer a", "x-provider: openai", f"Content-Length: {len(body)}"} <= {
        *lines
    }


def test_no_two_requests_in_a_row_are_alike():
    endpoint = Endpoint(80, ("a", "b"))
    first, second = (endpoint.request(BODY, number).splitlines() for number in (1, 2))
    differ = [line for line, other in zip(first, second, strict=True) if line != other]
    assert [line.partition(b":")[0] for line in differ] == [
        b"Authorization",
        b"X-Forwarded-For",
        b"X-Request-Id",
    ]
