"""The WSGI environ of a request."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from wsgiref.validate import check_environ

import pytest

from engine.server.environ import SchemeHeaders, address_fields, request_environ, worker_environ
from engine.server.http1.request import HeadReader, InvalidRequest, Limits

HEADERS = {"X-FORWARDED-PROTO": "https", "X-FORWARDED-SSL": "on"}


def environ(data: bytes) -> dict[str, Any]:
    parsed = HeadReader(Limits()).feed(data)
    assert parsed is not None
    connection = {
        **worker_environ(1),
        **address_fields("SERVER", ("127.0.0.1", 8080)),
        **address_fields("REMOTE", ("10.0.0.1", 4711)),
        "wsgi.url_scheme": "http",
    }
    return request_environ(connection, parsed[0])


def get(*headers: bytes, target: bytes = b"/") -> bytes:
    return b"GET " + target + b" HTTP/1.1\r\nHost: h:1\r\n" + b"".join(headers) + b"\r\n"


def test_the_environ_is_valid_wsgi() -> None:
    values = environ(get())
    values["wsgi.input"] = SimpleNamespace(read=1, readline=1, readlines=1, __iter__=1)
    check_environ(values)


def test_the_target_is_there_raw_and_decoded() -> None:
    values = environ(get(target=b"/a%2Fb%C3%A9?q=%20"))
    assert values["RAW_URI"] == "/a%2Fb%C3%A9?q=%20"
    assert values["PATH_INFO"] == "/a/b\xc3\xa9"
    assert values["QUERY_STRING"] == "q=%20"


def test_content_type_and_length_have_no_http_prefix() -> None:
    values = environ(get(b"Content-Type: a/b\r\n", b"Content-Length: 0\r\n", b"X-A: 1\r\n"))
    assert (values["CONTENT_TYPE"], values["CONTENT_LENGTH"]) == ("a/b", "0")
    assert "HTTP_CONTENT_TYPE" not in values
    assert values["HTTP_X_A"] == "1"


def test_addresses_of_both_ends() -> None:
    values = environ(get())
    assert (values["REMOTE_ADDR"], values["REMOTE_PORT"]) == ("10.0.0.1", "4711")
    assert (values["SERVER_NAME"], values["SERVER_PORT"]) == ("127.0.0.1", "8080")


@pytest.mark.parametrize("address", ["/run/mw.sock", b"/run/mw.sock"])
def test_a_unix_socket_has_a_path_and_no_port(address: Any) -> None:
    fields = address_fields("SERVER", address)
    assert fields == {"SERVER_NAME": "/run/mw.sock", "SERVER_PORT": ""}


@pytest.mark.parametrize(
    ("proxies", "address", "trusted"),
    [
        (["127.0.0.1"], ("127.0.0.1", 1), True),
        (["127.0.0.1"], ("10.0.0.1", 1), False),
        (["10.0.0.0/8"], ("10.0.0.1", 1), True),
        (["*"], ("10.0.0.1", 1), True),
        ([], ("10.0.0.1", 1), False),
        ([], "", True),
    ],
)
def test_only_a_trusted_proxy_says_the_scheme(
    proxies: list[str], address: Any, trusted: bool
) -> None:
    assert SchemeHeaders(HEADERS, proxies).trusts(address) == trusted


@pytest.mark.parametrize(
    ("headers", "scheme"),
    [
        (b"", "http"),
        (b"X-Forwarded-Proto: https\r\n", "https"),
        (b"X-Forwarded-Proto: http\r\n", "http"),
        (b"X-Forwarded-Proto: https\r\nX-Forwarded-Ssl: on\r\n", "https"),
    ],
)
def test_the_scheme_is_that_of_the_proxys_header(headers: bytes, scheme: str) -> None:
    values = environ(get(headers))
    SchemeHeaders(HEADERS, []).apply(values)
    assert values["wsgi.url_scheme"] == scheme


def test_contradictory_schemes_are_refused() -> None:
    values = environ(get(b"X-Forwarded-Proto: https\r\nX-Forwarded-Ssl: off\r\n"))
    with pytest.raises(InvalidRequest):
        SchemeHeaders(HEADERS, []).apply(values)
