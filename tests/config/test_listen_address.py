"""Addresses to listen on: which two cannot stand together, and which socket is bound to one."""

from __future__ import annotations

import pytest

from engine.config.listen_address import ListenAddress

parse = ListenAddress.parse


@pytest.mark.parametrize(
    ("first", "second", "overlap"),
    [
        ("127.0.0.1:9090", "127.0.0.1:9090", True),
        ("127.0.0.1:9090", "127.0.0.1:9091", False),
        ("127.0.0.1:9090", "10.0.0.1:9090", False),
        ("0.0.0.0:9090", "127.0.0.1:9090", True),
        ("[::]:9090", "127.0.0.1:9090", True),
        ("localhost:9090", "127.0.0.1:9090", True),
        ("localhost:9090", "10.0.0.1:9090", False),
        ("gateway.internal:9090", "127.0.0.1:9090", True),  # it may resolve to that
        ("[::1]:9090", "127.0.0.1:9090", False),
        ("127.0.0.1:0", "127.0.0.1:0", False),
        ("unix:/run/a.sock", "unix:/run/a.sock", True),
        ("unix:/run/a.sock", "unix:///run/a.sock", True),
        ("unix:/run/a.sock", "unix:/run/./b/../a.sock", True),
        ("unix:/run/a.sock", "unix:/run/b.sock", False),
        ("unix:/run/a.sock", "127.0.0.1:9090", False),
    ],
)
def test_two_addresses_that_cannot_stand_together(first: str, second: str, overlap: bool) -> None:
    assert parse(first).overlaps(parse(second)) is overlap
    assert parse(second).overlaps(parse(first)) is overlap


@pytest.mark.parametrize(
    ("address", "name", "bound"),
    [
        ("127.0.0.1:9090", ("127.0.0.1", 9090), True),
        ("localhost:9090", ("127.0.0.1", 9090), True),
        ("127.0.0.1:9090", ("127.0.0.1", 8080), False),
        ("127.0.0.1:9090", ("10.0.0.1", 9090), False),
        ("0.0.0.0:9090", ("10.0.0.1", 9090), True),
        ("gateway.internal:9090", ("10.0.0.1", 9090), True),
        ("[::1]:9090", ("::1", 9090, 0, 0), True),
        ("[0:0::1]:9090", ("::1", 9090, 0, 0), True),
        ("[fe80::1]:9090", ("fe80::1%eth0", 9090, 0, 2), True),
        ("127.0.0.1:9090", "/run/a.sock", False),
        ("unix:/run/a.sock", "/run/a.sock", True),
        ("unix:/run/a.sock", b"/run/a.sock", True),
        ("unix:/run//a.sock", "/run/a.sock", True),
        ("unix:/run/a.sock", "/run/./a.sock", True),
        ("unix:/run/a.sock", "", False),
        ("unix:/run/a.sock", ("127.0.0.1", 9090), False),
    ],
)
def test_the_name_of_a_socket_that_is_bound_to_an_address(
    address: str, name: object, bound: bool
) -> None:
    assert parse(address).matches(name) is bound


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("localhost:8080", "http://127.0.0.1:8080"),
        ("0.0.0.0:8080", "http://127.0.0.1:8080"),
        ("*:8080", "http://127.0.0.1:8080"),
        (":8080", "http://127.0.0.1:8080"),
        ("[::]:8080", "http://[::1]:8080"),
        ("[2001:db8::1]:80", "http://[2001:db8::1]:80"),
        ("gateway.internal:8080", "http://gateway.internal:8080"),
        ("unix:/run/gateway.sock", ""),
    ],
)
def test_the_url_that_reaches_an_address_from_this_machine(text: str, url: str) -> None:
    assert ListenAddress.parse(text).url == url
