"""The WSGI environment of a request."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from wsgiref.validate import check_environ

import pytest
from gunicorn.config import Config
from gunicorn.http.wsgi import base_environ

from engine.server.environ import environ_of
from engine.server.strict import Requests

PEER, SERVER = ("10.0.0.1", 4711), ("127.0.0.1", 8080)


def environ(data: bytes, peer: Any = PEER, server: Any = SERVER) -> dict[str, Any]:
    base = base_environ(Config()) | {"SCRIPT_NAME": ""}
    request = next(Requests(Config(), [data], peer))
    return environ_of(base, request, SimpleNamespace(), peer, server)


def get(*headers: bytes, target: bytes = b"/") -> bytes:
    return b"GET " + target + b" HTTP/1.1\r\nHost: h:1\r\n" + b"".join(headers) + b"\r\n"


def test_it_is_one_that_wsgi_knows() -> None:
    made = environ(get())
    del made["wsgi.input"]  # gunicorn's has no `readlines(hint)`
    made["wsgi.input"] = SimpleNamespace(read=1, readline=1, readlines=1, __iter__=1)
    check_environ(made)


def test_the_target_is_there_raw_and_decoded() -> None:
    made = environ(get(target=b"/a%2Fb%C3%A9?q=%20"))
    assert made["RAW_URI"] == "/a%2Fb%C3%A9?q=%20"
    assert made["PATH_INFO"] == "/a/b\xc3\xa9"
    assert made["QUERY_STRING"] == "q=%20"


def test_repeated_headers_are_one_value() -> None:
    made = environ(get(b"X-A: 1\r\n", b"x-a: 2\r\n"))
    assert made["HTTP_X_A"] == "1,2"


def test_the_type_and_length_of_a_body_have_names_of_their_own() -> None:
    made = environ(get(b"Content-Type: a/b\r\n", b"Content-Length: 0\r\n"))
    assert (made["CONTENT_TYPE"], made["CONTENT_LENGTH"]) == ("a/b", "0")
    assert "HTTP_CONTENT_TYPE" not in made


def test_addresses_of_both_ends() -> None:
    made = environ(get())
    assert (made["REMOTE_ADDR"], made["REMOTE_PORT"]) == ("10.0.0.1", "4711")
    assert (made["SERVER_NAME"], made["SERVER_PORT"]) == ("127.0.0.1", "8080")


@pytest.mark.parametrize("peer", ["", b""])
def test_a_unix_socket_has_a_path_and_no_port(peer: Any) -> None:
    made = environ(get(), peer, "/run/mw.sock")
    assert (made["REMOTE_ADDR"], made["REMOTE_PORT"]) == ("", "")
    assert made["SERVER_NAME"] == "/run/mw.sock"


@pytest.mark.parametrize(("peer", "scheme"), [("127.0.0.1", "https"), ("10.0.0.1", "http")])
def test_only_a_trusted_proxy_says_the_scheme(peer: str, scheme: str) -> None:
    made = environ(get(b"X-Forwarded-Proto: https\r\n"), (peer, 1))
    assert made["wsgi.url_scheme"] == scheme
