"""The order in which a new connection tries the addresses of an upstream."""

from __future__ import annotations

import socket

from engine.upstream.client.dial_order import Address, DialOrder, FixedAddress
from tests.support.clock import Clock

A, B, C = (Address(f"10.0.0.{n}", 80) for n in (1, 2, 3))
V6, W6 = Address("2001:db8::1", 80), Address("2001:db8::2", 80)


def order(*addresses: Address, clock: Clock | None = None) -> DialOrder:
    result = DialOrder(clock or Clock())
    result.replace(addresses)
    return result


def test_an_address_is_written_with_its_port() -> None:
    assert [str(A), str(V6)] == ["10.0.0.1:80", "[2001:db8::1]:80"]
    assert [A.family, V6.family] == [socket.AF_INET, socket.AF_INET6]
    assert Address("fe80::1", 80, 3).sockaddr == ("fe80::1", 80, 0, 3)


def test_without_addresses_nothing_is_tried() -> None:
    assert order().next() == []


def test_each_address_is_first_in_its_turn() -> None:
    turns = order(A, B, C)
    assert [turns.next() for _ in range(4)] == [[A, B, C], [B, C, A], [C, A, B], [A, B, C]]


def test_the_preferred_family_is_first_and_the_families_alternate() -> None:
    turns = order(V6, W6, A, B, C)
    assert turns.next() == [V6, A, W6, B, C]
    assert turns.next() == [W6, B, V6, C, A]
    assert order(A, V6, W6).next() == [A, V6, W6]


def test_an_address_that_refused_is_last_for_ten_seconds() -> None:
    clock = Clock(100.0)
    turns = order(A, B, clock=clock)
    turns.refused(A)
    assert [turns.next()[0] for _ in range(3)] == [B, B, B]
    clock.advance(10)
    assert {turns.next()[0] for _ in range(2)} == {A, B}


def test_another_address_in_its_place_is_not_avoided() -> None:
    turns = order(A, B)
    turns.refused(A)
    turns.refused(C)  # of an answer before
    turns.replace([B, C])
    turns.replace([A, B, C])
    assert {turns.next()[0] for _ in range(3)} == {A, B, C}


def test_a_fixed_address_stays() -> None:
    fixed = FixedAddress(A)
    fixed.refused(A)
    assert list(fixed.next()) == [A]
    assert fixed.status.addresses == (A,)
