"""Token buckets: a limit of events in time, and one of unknown tokens for each client address."""

import pytest

from engine.exchange.token_bucket import GuessLimit, TokenBucket, client_of
from tests.support.clock import Clock


def test_a_bucket_allows_a_burst_and_then_its_rate():
    bucket = TokenBucket(2.0, 60.0, now=100.0)
    assert [bucket.take(100.0) for _ in range(61)] == [0.0] * 60 + [0.5]
    assert bucket.take(100.2) == pytest.approx(0.3)
    assert bucket.take(100.5) == 0.0
    assert bucket.take(100.6) == pytest.approx(0.4)
    assert [bucket.take(1000.0) for _ in range(61)] == [0.0] * 60 + [0.5]


def test_a_client_may_guess_so_often_and_later_again():
    clock = Clock()
    limit = GuessLimit(rate=2.0, burst=3.0, clock=clock)
    waits = [limit.take("192.0.2.1") for _ in range(5)]
    assert waits == [0, 0, 0, 0.5, 0.5]
    clock.now = 0.5
    assert [limit.take("192.0.2.1") for _ in range(2)] == [0, 0.5]
    clock.now = 1000.0
    assert [limit.take("192.0.2.1") for _ in range(4)] == [0, 0, 0, 0.5]


def test_each_client_has_its_own_count():
    limit = GuessLimit(burst=1.0, clock=Clock())
    addresses = ["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8:0:1::1", ""]
    assert [limit.take(address) for address in addresses] == [0] * 5
    assert all(limit.take(address) for address in addresses)


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:0DB8:0001:0002::9", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
        ("", ""),
        ("what a proxy made up" * 100, ""),
    ],
)
def test_a_client_is_an_ipv4_address_or_an_ipv6_network(address, client):
    assert client_of(address) == client


def test_memory_of_clients_is_bounded_and_the_longest_silent_goes_first():
    limit = GuessLimit(burst=1.0, size=3, clock=Clock())
    for last in (1, 2, 3, 1, 4):  # 2 is forgotten
        limit.take(f"192.0.2.{last}")
    assert limit.take("192.0.2.1") > 0
    assert limit.take("192.0.2.2") == 0
