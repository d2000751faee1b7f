"""Addresses to listen on, as gateway.yaml writes them: `host:port` or `unix:/path`."""

from __future__ import annotations

import os
from ipaddress import ip_address
from os.path import normpath
from typing import Any, NamedTuple

_ANY = frozenset({"", "*", "0.0.0.0", "::"})  # noqa: S104 - compared with, not listened on

_ON_THIS_MACHINE = {"": "127.0.0.1", "*": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104
"""An address that answers, for each host that stands for all addresses."""


class ListenAddress(NamedTuple):
    """A TCP address, or the `path` of a Unix socket."""

    host: str = ""
    port: int = 0
    path: str = ""

    @classmethod
    def parse(cls, text: str) -> ListenAddress:
        """An address that the schema of gateway.yaml accepts."""
        if text.startswith("unix:"):
            return cls(path=normpath(text.removeprefix("unix:").removeprefix("//")))
        host, _, port = text.rpartition(":")
        host = host.strip("[]").lower()
        return cls("127.0.0.1" if host == "localhost" else host, int(port))

    @property
    def url(self) -> str:
        """The URL of the address on this machine, without a path; "" for a Unix socket."""
        if self.path:
            return ""
        host = _ON_THIS_MACHINE.get(self.host, self.host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    def overlaps(self, other: ListenAddress) -> bool:
        """Whether two sockets cannot both be bound, or `matches` cannot distinguish them.

        A host name may resolve to any address, so it overlaps every address with its port.
        """
        if self.path or other.path:
            return self.path == other.path
        if self.port != other.port or not self.port:
            return False
        hosts = {self.host, other.host}
        return len(hosts) == 1 or bool(hosts & _ANY) or not all(map(_is_literal, hosts))

    def matches(self, name: Any) -> bool:
        """Whether a socket of this name (`getsockname()`) is bound to this address, or is a
        connection that was accepted on it."""
        if not isinstance(name, tuple):
            return bool(self.path) and normpath(os.fsdecode(name)) == self.path
        if self.path or self.port != name[1]:
            return False
        return self.host in _ANY or not _is_literal(self.host) or _same(self.host, name[0])


def _is_literal(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _same(host: str, address: str) -> bool:
    return ip_address(host) == ip_address(address.partition("%")[0])
