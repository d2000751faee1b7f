"""dnsmasq: the name server of the bed."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path

from trials.fleet.network import Network
from trials.fleet.processes import Processes
from trials.fleet.waiting import accepts, until

TTL = 2
"""Seconds for which its answers hold."""


class Names:
    """Answers for the names in a hosts file, whose changes it follows at once. In namespaces it is
    the name server of all nodes."""

    def __init__(
        self, network: Network, processes: Processes, folder: Path, resolver: Path | None
    ) -> None:
        folder.mkdir()
        node = network.node("names")
        self._hosts = folder / "hosts"
        self._hosts.touch()
        words = ["dnsmasq", "--keep-in-foreground", "--no-resolv", "--no-hosts", "--user="]
        words += [f"--addn-hosts={self._hosts}", f"--local-ttl={TTL}", "--local=/fleet/"]
        port = network.port(node, 53)
        self.server = f"{node.address}:{port}"
        words += [f"--listen-address={node.address}", f"--port={port}", "--bind-interfaces"]
        words += ["--conf-file=/dev/null"]
        words += [f"--pid-file={folder / 'pid'}"]
        self._process = processes.start([*node.prefix, *words], folder, folder / "log")
        if resolver is not None:
            resolver.write_text(f"nameserver {node.address}\noptions timeout:1 attempts:2\n")
        until(lambda: accepts(node.address, port), "dnsmasq accepts")

    def set(self, name: str, addresses: Sequence[str]) -> None:
        """Let a name have these addresses from now on."""
        self._hosts.write_text("".join(f"{address} {name}\n" for address in addresses))
        self._process.signal(signal.SIGHUP)
