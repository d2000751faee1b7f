"""Documents of issuers, and the addresses of endpoints in them, judged before they are used."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any
from urllib.parse import SplitResult, urlsplit

import orjson

from engine.callers.jwt.refusal import KeysUnavailable
from engine.values.trees import Json

MAX_ADDRESS = 2_000
_SCHEMES = ("https", "http")
_WITH_IPV4 = tuple(map(IPv6Network, ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96")))
"""The networks whose addresses end with one of IPv4."""
_LOCAL_NAT64 = IPv6Network("64:ff9b:1::/48")
"""Addresses of a network's own translation to IPv4 (RFC 8215)."""


def object_of(document: bytes, name: str) -> Json:
    """The JSON object of a document, whose `name` is for messages. Raises KeysUnavailable."""
    try:
        value = orjson.loads(document)
    except ValueError as error:
        raise KeysUnavailable(f"{name} is not JSON") from error
    if not isinstance(value, dict):
        raise KeysUnavailable(f"{name} is not a JSON object")
    return value


def endpoint(value: Any, metadata_url: str) -> str:
    """The address, a URL behind TLS wherever the metadata are. It names no address of a private
    network (a metadata service, this machine) but the metadata's own. Raises ValueError with the
    reason."""
    if not isinstance(value, str) or not value:
        raise ValueError("is missing")
    parts, source = _split(value), urlsplit(metadata_url)
    if parts is None or parts.scheme not in _SCHEMES or not parts.hostname:
        raise ValueError("is not a URL")
    if "@" in parts.netloc or parts.fragment:
        raise ValueError("has a user, a password or a fragment")
    if parts.scheme == "http" and source.scheme != "http":
        raise ValueError(f"is not behind TLS: {value}")
    if parts.hostname != source.hostname and _is_private(parts.hostname):
        raise ValueError(f"is an address of a private network: {value}")
    return value


def _split(url: str) -> SplitResult | None:
    """The parts of a URL, None for a text that is none."""
    if len(url) > MAX_ADDRESS or not url.isascii() or not url.isprintable() or " " in url:
        return None
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts


def _is_private(host: str) -> bool:
    """Whether a host is `localhost`, an IP address that is not public, or a number, which some
    resolvers take for one."""
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ip_address(name.partition("%")[0])
    except ValueError:
        return all(part[:2] == "0x" or part.isdigit() for part in name.split("."))
    if isinstance(address, IPv6Address):
        if address in _LOCAL_NAT64:
            return True
        address = _ipv4_in(address) or address
    return not address.is_global or address.is_multicast


def _ipv4_in(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that routers make of one of IPv6 (RFC 3056, 4291, 6052, 7915)."""
    if any(address in network for network in _WITH_IPV4):
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.sixtofour
