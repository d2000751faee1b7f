"""Lookups of addresses and services (SRV) by DNS, with the times to live of their answers.

The law: unless the config names a server, the system resolves the names of /etc/hosts and those
that DNS does not know. Address families without a route from this machine are not used, unless the
name has no other addresses and there is a route to these. If the query for one family fails, its
last answer stays in use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import dns.exception
import dns.message
import dns.name
import dns.rdatatype
import dns.resolver

from engine.upstream.client.dial_order import Address, Answer, Share
from engine.upstream.client.host_addresses import has_route, system_lookup

LIFETIME = 5.0
"""Timeout of a DNS query in seconds, retries included."""
_MIN_TTL = 1.0
"""The shortest interval between two lookups, in seconds."""
_ROUTES = {"A": Address("192.0.2.1", 9), "AAAA": Address("2001:db8::1", 9)}
"""An address of each family, from the networks for documentation; nothing is sent to it."""
_HOSTS = Path("/etc/hosts")
RESOLV_CONF = "/etc/resolv.conf"
PORT = 53


class LookupFailed(OSError):
    """No server gave a usable answer; the message says why."""


class Service(NamedTuple):
    """An SRV record (RFC 2782)."""

    priority: int
    weight: int
    port: int
    host: str


class DnsLookup:
    """Queries the servers of /etc/resolv.conf, or only `server` (host, port).

    `every` is the longest time in seconds until the next lookup, `max_hosts` the number of hosts
    of a service that are looked up.
    """

    def __init__(
        self,
        every: float,
        max_hosts: int,
        server: tuple[str, int] | None = None,
        *,
        system: Callable[[str, int], Answer] = system_lookup,
        hosts: Path = _HOSTS,
    ) -> None:
        self._every = max(every, _MIN_TTL)
        self._max_hosts = max_hosts
        self._server = server
        self._system = system
        self._hosts = hosts
        self._last: dict[tuple[str, str], list[str]] = {}

    def addresses(self, host: str, port: int) -> Answer:
        """The addresses of a name. Raises LookupFailed, or OSError of the system."""
        if self._server is None and host.rstrip(".").lower() in names_in_hosts(self._hosts):
            return self._system(host, port)._replace(seconds=self._every)
        hosts, ttl = self._both_families(self._resolver(), host)
        if not hosts and self._server is None:
            return self._system(host, port)._replace(seconds=self._every)
        return Answer([Address(address, port) for address in hosts], self._seconds(ttl))

    def services(self, name: str) -> Answer:
        """The addresses of the hosts that offer a service (SRV), with their priorities; the weight
        of a host is divided among its addresses. Raises LookupFailed."""
        resolver = self._resolver()
        answer = _ask(resolver, name, "SRV")
        if answer is None or answer.rrset is None:
            raise LookupFailed(f"there is no service {name}")
        ttl = float(answer.chaining_result.minimum_ttl)
        services = [Service(r.priority, r.weight, r.port, str(r.target)) for r in answer.rrset]
        services.sort(key=lambda each: (each.priority, each.host, each.port))
        services = [each for each in services if each.host != "."][: self._max_hosts]
        additional = _additional(answer.response)
        shares: dict[Address, Share] = {}
        failure: LookupFailed | None = None
        for service in services:
            hosts = additional.get(service.host.lower(), [])
            if not hosts:
                try:
                    hosts, host_ttl = self._both_families(resolver, service.host)
                    ttl = min(ttl, host_ttl)
                except LookupFailed as error:
                    failure = error
                    continue
            for host in hosts:
                # RFC 2782: weight 0 has a very small chance beside other weights.
                share = Share((service.weight or 0.1) / len(hosts), service.priority)
                shares.setdefault(Address(host, service.port), share)
        current = {service.host for service in services}
        self._last = {key: hosts for key, hosts in self._last.items() if key[0] in current}
        if failure is not None:
            raise failure  # else the hosts that were not resolved would be dropped
        return Answer(list(shares), self._seconds(ttl), shares)

    def _seconds(self, ttl: float) -> float:
        return min(self._every, max(ttl, _MIN_TTL))

    def _resolver(self) -> dns.resolver.Resolver:
        """A resolver with the current /etc/resolv.conf, or with the configured server."""
        try:
            resolver = dns.resolver.Resolver(RESOLV_CONF, configure=self._server is None)
        except dns.exception.DNSException as error:
            raise LookupFailed(str(error)) from error
        resolver.port = PORT
        if self._server is not None:
            host, resolver.port = self._server
            resolver.nameservers = [host]
            resolver.search, resolver.domain = [], dns.name.root
        resolver.lifetime = LIFETIME
        return resolver

    def _both_families(self, resolver: dns.resolver.Resolver, host: str) -> tuple[list[str], float]:
        """The addresses of a host and their time to live; none if DNS does not know the name."""
        hosts: list[str] = []
        ttl, failures, routed = self._every, list[LookupFailed](), _routed_kinds()
        for kind in [*routed, *(_ROUTES.keys() - routed)]:
            is_near = kind not in routed  # only a network that is near has a route
            if is_near and hosts:
                break
            try:
                addresses, seconds = self._family(resolver, host, kind)
            except LookupFailed as error:
                failures += [] if is_near else [error]
                addresses, seconds = self._last.get((host, kind), []), ttl
            hosts += [each for each in addresses if not is_near or has_route(Address(each, 9))]
            ttl = min(ttl, seconds)
        if len(failures) == len(routed) or (failures and not hosts):
            raise failures[0]
        return hosts, ttl

    def _family(
        self, resolver: dns.resolver.Resolver, host: str, kind: str
    ) -> tuple[list[str], float]:
        """The addresses in the records of one kind and their time to live. Raises LookupFailed."""
        answer = _ask(resolver, host, kind)
        addresses, ttl = list[str](), self._every
        if answer is not None and answer.rrset is not None:
            addresses = [record.address for record in answer.rrset]
            ttl = float(answer.chaining_result.minimum_ttl)
        self._last[host, kind] = addresses
        return addresses, ttl


def _routed_kinds() -> list[str]:
    """The records to ask for: of the families with a route, of both if there is no network."""
    return [kind for kind, route in _ROUTES.items() if has_route(route)] or list(_ROUTES)


def _ask(resolver: dns.resolver.Resolver, name: str, kind: str) -> dns.resolver.Answer | None:
    """The answer to a query, which may be empty; None if the name does not exist."""
    try:
        return resolver.resolve(name, kind, raise_on_no_answer=False, search=True)
    except dns.resolver.NXDOMAIN:
        return None
    except dns.resolver.LifetimeTimeout:
        raise LookupFailed(f"no DNS server answered within {LIFETIME:g} s") from None
    except dns.exception.DNSException as error:
        raise LookupFailed(str(error)) from error


def _additional(response: dns.message.Message) -> Mapping[str, list[str]]:
    """The addresses in the additional section of a response, by name in lower case."""
    addresses: dict[str, list[str]] = {}
    kinds = set(map(dns.rdatatype.from_text, _routed_kinds())) if response.additional else ()
    for rrset in response.additional:
        if rrset.rdtype in kinds:
            name = str(rrset.name).lower()
            addresses.setdefault(name, []).extend(record.address for record in rrset)
    return addresses


def names_in_hosts(file: Path) -> frozenset[str]:
    """The names of a file like /etc/hosts, in lower case; none if it cannot be read."""
    try:
        lines = file.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return frozenset()
    return frozenset(name.lower() for name in _names(lines))


def _names(lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield from line.partition("#")[0].split()[1:]
