"""Names that are looked up beside the requests, with a script in place of the system's resolver."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path

import gevent
import gevent.event
import pytest

from engine.upstream.client import host_addresses
from engine.upstream.client.client import Client
from engine.upstream.client.dial_order import Address, Answer, FixedAddress, Share
from engine.upstream.client.failures import ConnectFailed
from engine.upstream.client.host_addresses import HostAddresses, addresses_of, system_lookup
from tests.support.clock import Clock
from tests.support.http_client import LONG, SHORT, get, read_all
from tests.support.peer import Authority, Peer, echo, server_context, serving
from tests.support.waiting import until

A, B, C = (Address(f"10.0.0.{n}", 80) for n in (1, 2, 3))
GONE = socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")


class Host:
    """A name whose lookups answer with `answer`, or raise it, once `gate` is open."""

    def __init__(self) -> None:
        self.clock = Clock(1000.0)
        self.answer: Sequence[Address] | OSError = [A, B]
        self.gate = gevent.event.Event()
        self.gate.set()
        self.lookups = 0
        self.is_open = False
        self.shares: dict[Address, Share] = {}
        self.seconds = 30.0
        self.changes: list[Sequence[Address]] = []
        self.addresses = HostAddresses(
            "name.example",
            80,
            in_use=lambda: self.is_open,
            changed=lambda: self.changes.append(self.addresses.status.addresses),
            lookup=self.look_up,
            clock=self.clock,
        )

    def look_up(self, host: str, port: int) -> Answer:
        assert (host, port) == ("name.example", 80)
        self.lookups += 1
        self.gate.wait()
        if isinstance(self.answer, OSError):
            raise self.answer
        return Answer(self.answer, self.seconds, self.shares)

    def follow(self, answer: Sequence[Address] | OSError) -> None:
        """The time of the next lookup has come."""
        self.answer = answer
        self.addresses.follow()
        gevent.sleep(0)


@pytest.fixture
def host() -> Iterator[Host]:
    made = Host()
    yield made
    made.addresses.close()


def test_a_name_is_looked_up_once_for_many_connections(host: Host) -> None:
    assert [set(host.addresses.next()) for _ in range(3)] == [{A, B}] * 3
    assert host.lookups == 1
    assert host.addresses.status.addresses == (A, B)


def test_connections_that_begin_together_share_the_first_lookup(host: Host) -> None:
    host.gate.clear()
    dials = [gevent.spawn(host.addresses.next) for _ in range(3)]
    gevent.sleep(0)
    host.gate.set()
    assert [set(dial.get()) for dial in dials] == [{A, B}] * 3
    assert host.lookups == 1


def test_a_name_without_an_answer_gives_the_reason_each_time(host: Host) -> None:
    host.answer = GONE
    for _ in range(2):
        with pytest.raises(OSError, match="Temporary failure"):
            host.addresses.next()
    assert (host.lookups, host.addresses.status.failures) == (2, 2)
    host.answer = []
    with pytest.raises(OSError, match="its name has no address"):
        host.addresses.next()


def test_a_changed_answer_is_used_and_told(host: Host) -> None:
    host.addresses.next()
    host.follow([B, C])
    assert set(host.addresses.next()) == {B, C}
    assert host.changes == [(A, B), (B, C)]


def test_the_same_answer_in_another_order_is_no_change(host: Host) -> None:
    host.addresses.next()
    host.follow([B, A])
    assert host.lookups == 2
    assert host.changes == [(A, B)]
    host.is_open, host.shares = True, {A: Share(2.0)}
    host.follow([A, B])
    assert host.changes == [(A, B), (A, B)]


@pytest.mark.parametrize("answer", [GONE, []])
def test_a_lookup_that_fails_changes_nothing_and_is_reported_once_a_minute(
    host: Host, answer: Sequence[Address] | OSError, caplog: pytest.LogCaptureFixture
) -> None:
    host.addresses.next()
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            host.is_open = True
            host.follow(answer)
    assert set(host.addresses.next()) == {A, B}
    assert host.changes == [(A, B)]
    (record,) = caplog.records
    assert "name.example cannot be looked up, the last ones stay in use: " in record.message
    assert host.addresses.status.failures == 3
    assert host.addresses.status.error in record.message
    host.follow([A])
    assert host.addresses.status.error == ""


def test_a_source_that_fails_is_looked_at_as_often_as_before(host: Host) -> None:
    """A file is looked at every second, also while it is missing."""
    host.is_open, host.seconds = True, 0.01
    host.addresses.next()
    host.answer = GONE
    until(lambda: host.addresses.status.failures > 2, patience=3.0, sleep=gevent.sleep)


def test_a_name_is_followed_while_it_is_in_use(host: Host) -> None:
    host.addresses.next()
    host.follow([A])  # a connection was made
    host.follow([A])  # none, and none is open
    assert host.lookups == 2
    host.is_open = True
    host.follow([A])
    assert host.lookups == 3


def test_an_old_answer_is_renewed_before_it_is_used(host: Host) -> None:
    host.addresses.next()
    host.clock.advance(31)
    host.answer = [C]
    assert list(host.addresses.next()) == [C]
    assert host.lookups == 2


def test_only_the_connection_that_begins_a_slow_lookup_waits_for_it(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.upstream.client.host_addresses.REFRESH_TIMEOUT", 0.0)
    host.addresses.next()
    host.clock.advance(31)
    host.gate.clear()
    host.answer = [C]
    assert set(host.addresses.next()) == {A, B}
    monkeypatch.setattr("engine.upstream.client.host_addresses.REFRESH_TIMEOUT", 3600.0)
    assert set(host.addresses.next()) == {A, B}
    assert host.lookups == 2
    host.gate.set()
    gevent.sleep(0)
    gevent.sleep(0)
    assert list(host.addresses.next()) == [C]


@pytest.mark.parametrize("has_begun", [True, False])
def test_a_lookup_that_is_stopped_is_the_last_until_a_new_connection(
    monkeypatch: pytest.MonkeyPatch, has_begun: bool
) -> None:
    monkeypatch.setattr(host_addresses, "INTERVAL", 0.0)
    host = Host()
    host.gate.clear()
    host.seconds = 0.0
    host.addresses.start()
    if has_begun:
        gevent.sleep(0)
    host.addresses.close()
    host.is_open = True
    host.gate.set()
    gevent.sleep(SHORT)
    assert host.lookups == has_begun
    host.seconds = 30.0
    assert set(host.addresses.next()) == {A, B}


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "models.test"])
def test_another_source_of_addresses_is_asked_whatever_the_host(host: str) -> None:
    addresses = addresses_of(
        *(host, 80),
        in_use=lambda: True,
        changed=lambda: None,
        lookup=lambda host, port: Answer([Address("10.0.0.9", port)], 25.0),
    )
    assert addresses.next() == [Address("10.0.0.9", 80)]


def test_a_literal_address_is_not_looked_up() -> None:
    for host in ("127.0.0.1", "::1"):
        addresses = addresses_of(host, 80, in_use=lambda: True, changed=lambda: None)
        assert isinstance(addresses, FixedAddress)
        assert list(addresses.next()) == [Address(host, 80)]


def test_the_system_knows_localhost() -> None:
    assert Address("127.0.0.1", 80) in system_lookup("localhost", 80).addresses


def test_the_system_says_why_a_name_has_no_address(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(OSError):
        system_lookup("x" * 70 + ".invalid", 80)
    assert capfd.readouterr().err == ""


# --- the connections of a client


class Moving:
    """A client of a name that moves from one peer to another."""

    def __init__(self, client_clock: Clock) -> None:
        self.ports: list[int] = []
        self.client = Client(
            "http://name.example",
            environ={},
            lookup=lambda host, port: Answer(
                [Address("127.0.0.1", each) for each in self.ports],
                host_addresses.INTERVAL,
            ),
            clock=client_clock,
        )


@pytest.fixture
def peers() -> Iterator[tuple[Peer, Peer]]:
    with serving(echo) as first, serving(echo) as second:
        yield first, second


def test_idle_connections_to_an_address_that_went_away_are_closed(
    peers: tuple[Peer, Peer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.upstream.client.host_addresses.INTERVAL", 0.01)
    moving, (first, second) = Moving(Clock()), peers
    moving.ports = [first.port]
    read_all(get(moving.client))
    assert moving.client.connections == (1, 0)
    moving.ports = [second.port]
    with gevent.Timeout(LONG):
        while moving.client.connections != (0, 0):
            gevent.sleep(0)
    read_all(get(moving.client))
    assert (first.connections, second.connections) == (1, 1)
    moving.client.close()


def test_a_response_from_an_address_that_went_away_is_read_to_its_end(
    peers: tuple[Peer, Peer],
) -> None:
    clock = Clock()
    moving, (first, second) = Moving(clock), peers
    moving.ports = [first.port]
    long = moving.client.send("POST", "/", [], b"x" * 200_000)
    moving.ports = [second.port]
    clock.advance(31)
    read_all(get(moving.client))
    assert len(read_all(long)) > 200_000
    assert moving.client.connections == (1, 0)
    read_all(get(moving.client))
    assert second.connections == 1
    moving.client.close()


def test_a_client_of_one_address_has_its_own_pool(peers: tuple[Peer, Peer]) -> None:
    client = Client(peers[0].url.replace("127.0.0.1", "name.example"), environ={})
    for peer in peers:
        one = client.at(Address("127.0.0.1", peer.port))
        for _ in range(2):
            answer = read_all(get(one))
        assert f"Host: name.example:{peers[0].port}".encode() in answer
        assert peer.connections == 1
        assert client.connections == (1, 0)
        one.close()
    client.close()


@pytest.mark.parametrize(
    ("url", "proxy"), [("http+unix:///s", None), ("http://a.example", "http://p.example")]
)
def test_a_client_without_addresses_has_none_for_one(url: str, proxy: str | None) -> None:
    with pytest.raises(ValueError, match="no addresses of its own"):
        Client(url, proxy=proxy, environ={}).at(A)


def test_tls_to_an_address_verifies_the_name(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    for name, verified in (("name.example", True), ("127.0.0.1", False)):
        with serving(echo, tls=server_context(authority.issue(name))) as peer:
            client = Client(f"https://name.example:{peer.port}", ca=authority.path, environ={})
            one = client.at(Address("127.0.0.1", peer.port))
            if verified:
                assert f"Host: name.example:{peer.port}".encode() in read_all(get(one))
            else:
                with pytest.raises(ConnectFailed, match="its certificate is refused"):
                    get(one)
            client.close()
