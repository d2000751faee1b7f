"""The addresses of an upstream as servers of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import gevent
import pytest

from engine.upstream.addresses.replicas import Replicas
from engine.upstream.client.client import Client
from engine.upstream.client.dial_order import Address, Answer, Share
from tests.support.http_client import LONG, get, read_all
from tests.support.peer import echo, serving

A, B, C = (Address(f"10.0.0.{n}", 80) for n in (1, 2, 3))


class Moving:
    """Replicas of a client whose addresses a test changes; they are looked up again at once."""

    def __init__(self, max_addresses: int = 100) -> None:
        self.shares: Mapping[Address, Share] = {}
        self.addresses: Sequence[Address] = []
        self.client = Client("http://models.test", environ={}, lookup=self._look_up)
        self.replicas = Replicas(self.client, max_addresses)
        self.changes = 0
        self.replicas.on_change(self._count)

    def _look_up(self, host: str, port: int) -> Answer:
        return Answer(self.addresses, 0.001, self.shares)

    def _count(self) -> None:
        self.changes += 1

    def move(self, *addresses: Address) -> None:
        """Other addresses, or the first ones."""
        self.addresses, before = addresses, self.changes
        if not before:
            self.client.follow(self.replicas.update)
        with gevent.Timeout(LONG):
            while self.changes == before:
                gevent.sleep(0.001)

    def weights_by_round(self) -> list[list[tuple[str, float]]]:
        return [[(str(r.address), r.share) for r in level] for level in self.replicas.levels]


@pytest.fixture
def moving() -> Iterator[Moving]:
    made = Moving()
    yield made
    made.client.close()


def test_there_are_none_before_the_first_answer(moving: Moving) -> None:
    assert moving.replicas.levels == ()
    assert list(moving.replicas.addresses) == []


def test_each_address_has_an_equal_share_and_they_are_in_order(moving: Moving) -> None:
    moving.move(B, A)
    assert moving.weights_by_round() == [[("10.0.0.1:80", 0.5), ("10.0.0.2:80", 0.5)]]
    assert moving.changes == 1


def test_shares_are_by_weight_within_a_priority(moving: Moving) -> None:
    moving.shares = {A: Share(3, 0), B: Share(1, 0), C: Share(9, 5)}
    moving.move(A, B, C)
    assert moving.weights_by_round() == [
        [("10.0.0.1:80", 0.75), ("10.0.0.2:80", 0.25)],
        [("10.0.0.3:80", 1.0)],
    ]


def test_weights_of_0_alone_are_equal_shares(moving: Moving) -> None:
    moving.shares = {A: Share(0), B: Share(0)}
    moving.move(A, B)
    assert moving.weights_by_round() == [[("10.0.0.1:80", 0.5), ("10.0.0.2:80", 0.5)]]


def test_of_too_many_addresses_the_first_ones_are_used() -> None:
    moving = Moving(max_addresses=2)
    moving.shares = {A: Share(1, 1)}
    moving.move(A, C, B)
    assert [str(address) for address in moving.replicas.addresses] == ["10.0.0.2:80", "10.0.0.3:80"]
    assert moving.replicas.omitted == 1
    moving.client.close()


def test_an_address_that_stays_keeps_its_connections_and_another_loses_them(
    moving: Moving,
) -> None:
    with serving(echo) as first, serving(echo) as second:
        gone, stays = (Address("127.0.0.1", peer.port) for peer in (first, second))
        moving.move(gone, stays)
        clients = {replica.address: replica.client for replica in moving.replicas.levels[0]}
        for client in clients.values():
            read_all(get(client))
        busy = clients[stays].send("POST", "/", [], b"x" * 200_000)
        assert moving.client.connections == (1, 1)
        moving.move(stays)
        assert moving.client.connections == (0, 1)
        read_all(busy)
        assert moving.client.connections == (1, 0)
        (replica,) = moving.replicas.levels[0]
        assert replica.client is clients[stays]
        read_all(get(replica.client))
        assert (first.connections, second.connections) == (1, 1)


def test_a_response_from_an_address_that_went_away_is_read_to_its_end(moving: Moving) -> None:
    with serving(echo) as first, serving(echo) as second:
        moving.move(Address("127.0.0.1", first.port))
        long = moving.replicas.levels[0][0].client.send("POST", "/", [], b"x" * 200_000)
        moving.move(Address("127.0.0.1", second.port))
        assert len(read_all(long)) > 200_000
        long.close()
        assert moving.client.connections == (0, 0)
