"""The WSGI environ of a request that this process makes."""

from __future__ import annotations

import pytest

from engine.exchange.internal_request import Request, environ_of
from tests.support.each import each


def test_headers_of_one_name_are_one_list_and_the_length_is_that_of_the_body() -> None:
    headers = [("accept", "a"), ("Accept", "b"), ("content-type", "text/plain")]
    environ = environ_of(Request("post", "/a%20b?c=d", headers, b"12345", "10.0.0.7"))
    assert (environ["REQUEST_METHOD"], environ["REMOTE_ADDR"]) == ("POST", "10.0.0.7")
    assert (environ["PATH_INFO"], environ["QUERY_STRING"]) == ("/a b", "c=d")
    assert environ["RAW_URI"] == "/a%20b?c=d"
    assert (environ["HTTP_ACCEPT"], environ["CONTENT_TYPE"]) == ("a,b", "text/plain")
    assert environ["CONTENT_LENGTH"] == "5"


@each("target", ["x", "/a b", "/ä", "/a\n"])
def test_a_target_that_is_not_on_the_wire_like_this_is_refused(target: str) -> None:
    with pytest.raises(ValueError, match="the path"):
        environ_of(Request("GET", target))


def test_a_header_that_is_not_on_the_wire_like_this_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be sent"):
        environ_of(Request("GET", "/", [("", "v")]))
    with pytest.raises(ValueError, match="cannot be sent"):
        environ_of(Request("GET", "/", [("a", "v\r\nb: c")]))


@each("size, line", [(8_186, ""), (8_187, "path and query have 8,188 bytes")])
def test_a_request_line_is_as_long_as_one_from_outside(size: int, line: str) -> None:
    for target in ("/" + "a" * size, "/?" + "a" * (size - 1)):
        request = Request("GET", target)
        if line:
            with pytest.raises(ValueError, match=line):
                environ_of(request)
        else:
            assert environ_of(request)["RAW_URI"] == target


def test_a_header_is_as_long_as_one_from_outside() -> None:
    assert environ_of(Request("GET", "/", [("a", "v" * 16_380)]))["HTTP_A"]
    with pytest.raises(ValueError, match="'a' has more than 16,380 bytes"):
        environ_of(Request("GET", "/", [("a", "v" * 16_381)]))
