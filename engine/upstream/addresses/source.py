"""The lookup of an upstream's addresses that its config asks for."""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path
from typing import TYPE_CHECKING

from engine.config.upstreams import Resolve
from engine.upstream.addresses.address_file import AddressFile
from engine.upstream.client.dial_order import Answer
from engine.upstream.client.host_addresses import Lookup

if TYPE_CHECKING:  # dnspython takes 75 ms to import, and a deployment without `resolve` needs none
    from engine.upstream.addresses.dns_lookup import DnsLookup

_SERVER = re.compile(r"(\[[^\]]*\]|[0-9.]+)(?::([0-9]{1,5}))?")


def lookup_of(resolve: Resolve) -> Lookup:
    """The lookup for `resolve`: of the host in the upstream's URL, of a service, or of a file."""
    dns = _dns(resolve)
    if resolve.file is not None:
        file = AddressFile(Path(resolve.file), dns.addresses)

        def from_file(host: str, port: int) -> Answer:
            return file.addresses(port)

        return from_file
    if resolve.srv:

        def service(host: str, port: int) -> Answer:
            return dns.services(resolve.srv)

        return service
    return dns.addresses


def _dns(resolve: Resolve) -> DnsLookup:
    from engine.upstream.addresses.dns_lookup import DnsLookup

    server = dns_server(resolve.server) if resolve.server else None
    return DnsLookup(resolve.every, resolve.max_addresses, server)


def dns_server(text: str) -> tuple[str, int]:
    """The address and the port of a DNS server, 53 without one. ValueError if it has another form
    than 10.0.0.2, 127.0.0.1:8600 or [::1]:8600."""
    match = _SERVER.fullmatch(text)
    host, number = (text, 53) if match is None else (match[1], int(match[2] or 53))
    if not 0 < number < 65536:
        raise ValueError("a port is a number from 1 to 65535")
    return str(ipaddress.ip_address(host.strip("[]"))), number
