"""The client IP address of a request, and whether it is in a list of networks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

Network = IPv4Network | IPv6Network


def networks(texts: Sequence[str]) -> tuple[Network, ...]:
    """Parse `["10.0.0.0/8", "::1"]`. ValueError with a message for other text."""
    return _networks(tuple(texts))


@lru_cache(maxsize=4096)
def _networks(texts: tuple[str, ...]) -> tuple[Network, ...]:
    parsed = []
    for text in texts:
        try:
            parsed.append(ip_network(text))
        except ValueError as error:
            likely = likely_network(text)
            hint = f"; write {likely}" if likely else ", like 10.0.0.0/8"
            raise ValueError(f"'{text}' is not an address or network{hint}") from error
    return tuple(parsed)


def likely_network(text: str) -> str:
    """`10.0.0.0/8` for `10.1.2.3/8`, `10.0.0.0/24` for `10.0.0.*`; "" if the meaning is unclear."""
    if re.fullmatch(r"\d+(?:\.\d+){0,2}(?:\.\*)+", text):
        parts = [part for part in text.split(".") if part != "*"]
        text = ".".join([*parts, *["0"] * (4 - len(parts))]) + f"/{8 * len(parts)}"
    try:
        return str(ip_network(text.strip(), strict=False))
    except ValueError:
        return ""


def within(address: str, networks: Sequence[Network]) -> bool:
    """Whether an address is in one of the networks; False for text that is no address."""
    return bool(networks) and _within(address, tuple(networks))


@lru_cache(maxsize=4096)
def _within(address: str, networks: tuple[Network, ...]) -> bool:
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(parsed, "ipv4_mapped", None)
    return any((mapped or parsed) in network for network in networks)


def caller_address(environ: Mapping[str, object], proxies: Sequence[Network]) -> str:
    """The client IP address: the peer's or, where the peer is a trusted proxy, the one in
    `X-Forwarded-For`.

    The header is read from its end, as long as the addresses are those of trusted proxies; a client
    can write anything before them. "" for a Unix socket without the header.
    """
    address = str(environ.get("REMOTE_ADDR", ""))
    if not proxies or (forwarded := environ.get("HTTP_X_FORWARDED_FOR")) is None:
        return address
    for hop in reversed(str(forwarded).split(",")):
        if address and not within(address, proxies):
            break
        address = hop.strip()
    return address
