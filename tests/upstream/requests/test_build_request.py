"""The request that a target gets: its path and its headers."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.exchange.member_protocols import Metering
from engine.exchange.request_body import Body
from engine.spec.expression import of_body
from engine.upstream.requests.build_request import build_request, upstream_path
from tests.support.exchanges import new_exchange
from tests.support.upstreams import Client, upstream


@pytest.mark.parametrize(
    ("base", "mount", "path", "expected"),
    [
        ("/base", "/v1", "/v1/chat", "/base/chat"),
        ("", "/v1", "/v1/chat", "/chat"),
        ("/base", "", "/chat", "/base/chat"),
        ("", "", "/", "/"),
        ("/base", "/v1", "/v1/", "/base/"),
        # The prefix is encoded in the request.
        ("/base", "/api", "/%61pi/public/1", "/base/public/1"),
        ("/base", "/api", "/%61%70%69/public/1", "/base/public/1"),
        ("/base", "/api/v2", "/api/%762/x", "/base/x"),
        ("/base", "/api/v2", "/%61p%69/%76%32/x/y", "/base/x/y"),
        # The prefix is encoded in the document.
        ("/base", "/a%20b", "/a%20b/x", "/base/x"),
        ("/base", "/%61pi", "/api/x", "/base/x"),
        ("/base", "/a%20b/c", "/%61%20b/%63/x", "/base/x"),
        ("/base", "/a%2Fb", "/a%2fb/x", "/base/x"),
        # The suffix stays as the caller sent it.
        ("/base", "/api", "/%61pi/a%2Fb;p=1//c", "/base/a%2Fb;p=1//c"),
        ("/base", "/api", "/%61pi/api/x", "/base/api/x"),
    ],
)
def test_the_mount_prefix_is_replaced_by_segments(
    base: str, mount: str, path: str, expected: str
) -> None:
    assert upstream_path(base, mount, path) == expected


@pytest.mark.parametrize(
    ("mount", "path"),
    [
        ("/v1", "/v1"),
        ("/v1", ""),
        ("/v1", "v1/x"),
        ("", "x"),
        ("", "@evil.example/x"),
        ("", ".evil.example/x"),
        ("/v1", "http://evil.example/v1/x"),
        ("/a/b", "/a"),
        ("/a/b", "/a/b"),
        ("/v1", "/v1/../x"),
        ("/v1", "/v1/%2e%2e/x"),
        ("/v1", "/v1/a/..%2fx"),
        ("/v1", "/v1/a%5c..%5cx"),
        ("/v1", "/v1/%252e%252e/x"),
        ("/v1", "/v1/%25252e%25252e%25252fx"),
        ("/v1", "/v1/..;x/y"),
        ("/v1", "/v1/a\r\nb"),
    ],
)
def test_a_path_that_would_leave_the_base_path_is_refused(mount: str, path: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        upstream_path("/base", mount, path)


_SEGMENT = st.text(string.ascii_letters + string.digits + "-_~", min_size=1, max_size=6)


@st.composite
def _encoded(draw: st.DrawFn, segment: str) -> str:
    return "".join(f"%{ord(char):02x}" if draw(st.booleans()) else char for char in segment)


@given(st.data())
def test_any_encoding_of_the_prefix_gives_the_same_path(data: st.DataObject) -> None:
    mount, suffix = data.draw(st.lists(_SEGMENT, max_size=4)), data.draw(st.lists(_SEGMENT))
    encoded = [data.draw(_encoded(segment)) for segment in mount]
    tail = "/" + "/".join(suffix)
    prefix = "".join(f"/{segment}" for segment in mount)
    path = "".join(f"/{segment}" for segment in encoded)
    assert upstream_path("/base", prefix, path + tail) == "/base" + tail


@pytest.mark.parametrize(("asks", "body"), [(True, b'{"u":1,"model":"m"}'), (False, None)])
def test_usage_is_asked_of_an_upstream_that_reports_it(asks: bool, body: bytes | None) -> None:
    sent = b'{"model":"m"}'
    exchange = new_exchange(
        path="/x", body=Body(sent), value={"model": "m"}, media_type="application/json", model="m"
    )
    exchange.metering = Metering(usage_edit=(1, 1, b'"u":1,'))
    server = upstream(Client())
    server.ask_usage = asks
    target = server.target("m", 1)
    request = build_request(target, exchange, server.headers(()), of_body(["model"]))
    assert request.body == (body or sent)
