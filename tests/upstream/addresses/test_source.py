"""Which lookup a config asks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.config.upstreams import Resolve
from engine.upstream.addresses.source import dns_server, lookup_of
from engine.upstream.client.dial_order import Address
from tests.support.dns_server import dns_server as scripted_server


def test_the_host_of_the_url_is_looked_up() -> None:
    with scripted_server() as server:
        server.records["models.test", "A"] = ["127.0.0.7"]
        lookup = lookup_of(Resolve(every=5.0, server=server.address))
        answer = lookup("models.test", 80)
        assert (list(answer.addresses), answer.seconds) == ([Address("127.0.0.7", 80)], 5.0)


def test_a_service_has_its_own_name_and_ports() -> None:
    with scripted_server() as server:
        server.records["_http._tcp.test", "SRV"] = ["0 1 8001 a.test."]
        server.records["a.test", "A"] = ["127.0.0.7"]
        lookup = lookup_of(Resolve(srv="_http._tcp.test", server=server.address))
        assert list(lookup("models.test", 80).addresses) == [Address("127.0.0.7", 8001)]


def test_a_file_needs_no_name(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("127.0.0.7")
    lookup = lookup_of(Resolve(file=str(tmp_path / "a.txt")))
    assert list(lookup("models.test", 80).addresses) == [Address("127.0.0.7", 80)]


@pytest.mark.parametrize(
    ("text", "server"),
    [
        ("10.0.0.2", ("10.0.0.2", 53)),
        ("127.0.0.1:8600", ("127.0.0.1", 8600)),
        ("[::1]:8600", ("::1", 8600)),
        ("[::1]", ("::1", 53)),
        ("::1", ("::1", 53)),
    ],
)
def test_a_dns_server_is_an_address_with_or_without_a_port(
    text: str, server: tuple[str, int]
) -> None:
    assert dns_server(text) == server


@pytest.mark.parametrize("text", ["", "dns.test", "10.0.0:53", "127.0.0.1:0", "127.0.0.1:70000"])
def test_anything_else_is_no_dns_server(text: str) -> None:
    with pytest.raises(ValueError):
        dns_server(text)
