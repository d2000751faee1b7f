"""Where a request comes from: its address, and whether that is within some networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any

Network = IPv4Network | IPv6Network


def networks(texts: Sequence[str]) -> tuple[Network, ...]:
    """`["10.0.0.0/8", "::1"]` as networks. ValueError, in words, for what is none."""
    return _networks(tuple(texts))


@lru_cache(maxsize=4096)
def _networks(texts: tuple[str, ...]) -> tuple[Network, ...]:
    found = []
    for text in texts:
        try:
            found.append(ip_network(text))
        except ValueError as error:
            hint = "its host bits must be 0" if "host bits" in str(error) else "like 10.0.0.0/8"
            raise ValueError(f"'{text}' is no address or network, {hint}") from error
    return tuple(found)


def within(address: str, known: Sequence[Network]) -> bool:
    """Whether an address is in one of the networks; what is no address never is."""
    return bool(known) and _within(address, tuple(known))


@lru_cache(maxsize=4096)
def _within(address: str, known: tuple[Network, ...]) -> bool:
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(parsed, "ipv4_mapped", None)
    return any((mapped or parsed) in network for network in known)


def caller_address(environ: Mapping[str, Any], proxies: Sequence[Network]) -> str:
    """The address of who calls: the peer's, or what trusted `proxies` say of it.

    `X-Forwarded-For` is read from its end, as far as the addresses are those of trusted proxies;
    what stands before that, anybody can write. "" for a Unix socket without a proxy's word.
    """
    address = str(environ.get("REMOTE_ADDR", ""))
    forwarded = environ.get("HTTP_X_FORWARDED_FOR")
    if not proxies or forwarded is None:
        return address
    for said in reversed(str(forwarded).split(",")):
        if address and not within(address, proxies):
            break
        address = said.strip()
    return address
