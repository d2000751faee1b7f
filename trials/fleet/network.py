"""Where the servers of the bed run: each in a network namespace of its own, or on loopback.

In namespaces the bed's own process is the router between all nodes, so that it can drop the packets
between two of them. The namespaces exist inside of that process's own, which the kernel removes
with it. On loopback every node is an address in 127/8; nothing can be dropped there.
"""

from __future__ import annotations

import random
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Node:
    """A machine of the bed."""

    name: str
    address: str
    prefix: tuple[str, ...] = ()
    """The words that run a command there."""

    def url(self, port: int, path: str = "") -> str:
        return f"http://{self.address}:{port}{path}"


class NotOnLoopback(Exception):
    """A fault needs namespaces; `str` says why."""


class Network(Protocol):
    """The nodes, and the faults of the network between them."""

    def node(self, name: str) -> Node:
        """A new machine."""
        ...

    def port(self, node: Node, usual: int) -> int:
        """The port for a service whose usual one is `usual`, free on that node."""
        ...

    def cut(self, one: Node, other: Node) -> None:
        """Drop every packet between two nodes. Raises NotOnLoopback."""
        ...

    def heal(self, one: Node, other: Node) -> None:
        """Undo `cut`."""
        ...


class Namespaces:
    """Nodes 10.88.1.2, 10.88.2.2, ... behind the bed's own namespace, which routes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "namespaces"
        self._folder.mkdir()
        self._count = 0
        Path("/proc/sys/net/ipv4/ip_forward").write_text("1")

    def node(self, name: str) -> Node:
        self._count += 1
        link, subnet = f"fleet{self._count}", f"10.88.{self._count}"
        file = self._folder / name
        file.touch()
        _run("unshare", f"--net={file}", "--", "true")
        inside = ("nsenter", f"--net={file}", "--")
        peer = ("type", "veth", "peer", "name", "eth0", "netns", str(file))
        _run("ip", "link", "add", link, *peer)
        _run("ip", "addr", "add", f"{subnet}.1/24", "dev", link)
        _run("ip", "link", "set", link, "up")
        _run(*inside, "ip", "addr", "add", f"{subnet}.2/24", "dev", "eth0")
        _run(*inside, "ip", "link", "set", "lo", "up")
        _run(*inside, "ip", "link", "set", "eth0", "up")
        _run(*inside, "ip", "route", "add", "default", "via", f"{subnet}.1")
        return Node(name, f"{subnet}.2", inside)

    def port(self, node: Node, usual: int) -> int:
        return usual

    def cut(self, one: Node, other: Node) -> None:
        for rule in _both_ways(one, other):
            _run("ip", "rule", "add", *rule)

    def heal(self, one: Node, other: Node) -> None:
        for rule in _both_ways(one, other):
            _run("ip", "rule", "del", *rule)


class Loopback:
    """Nodes with addresses of 127/8 and free ports."""

    def __init__(self) -> None:
        dice = random.Random()
        self._subnet = f"127.{dice.randrange(10, 250)}.{dice.randrange(1, 255)}"
        self._count = 0
        self._next = dice.randrange(20_000, 30_000)

    def node(self, name: str) -> Node:
        self._count += 1
        return Node(name, f"{self._subnet}.{self._count}")

    def port(self, node: Node, usual: int) -> int:
        """Below the range from which the kernel takes ports."""
        for port in range(self._next, 32_000):
            with socket.socket() as sock:
                try:
                    sock.bind((node.address, port))
                except OSError:
                    continue
            self._next = port + 1
            return port
        raise OSError("no port below 32000 is free")

    def cut(self, one: Node, other: Node) -> None:
        raise NotOnLoopback("packets can be dropped between namespaces only")

    def heal(self, one: Node, other: Node) -> None:
        raise NotOnLoopback("packets can be dropped between namespaces only")


@contextmanager
def partition(network: Network, one: Node, other: Node) -> Iterator[None]:
    """No packet passes between two nodes during the block. Raises NotOnLoopback."""
    network.cut(one, other)
    try:
        yield
    finally:
        network.heal(one, other)


def _both_ways(one: Node, other: Node) -> Iterator[Sequence[str]]:
    for source, target in ((one, other), (other, one)):
        yield "from", source.address, "to", target.address, "blackhole"


def _run(*words: str) -> None:
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    if result.returncode:
        raise OSError(f"{' '.join(words)}: {result.stderr.strip()}")
