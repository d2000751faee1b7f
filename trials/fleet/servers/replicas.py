"""The model servers of the bed, each a process on its own node."""

from __future__ import annotations

import http.client
import sys
from pathlib import Path
from typing import Any

import orjson

from trials.fleet.network import Network, Node
from trials.fleet.processes import Processes
from trials.fleet.servers.gateway import ROOT
from trials.fleet.waiting import accepts, until


class Replica:
    """One model server; `replica.py` says how it behaves."""

    def __init__(self, node: Node, port: int, processes: Processes, folder: Path) -> None:
        self.node, self.port = node, port
        self._processes, self._folder = processes, folder
        self.start()

    @property
    def name(self) -> str:
        return self.node.name

    def start(self) -> None:
        """Start it (again); `wait` until it accepts."""
        module = "trials.fleet.servers.replica"
        words = [sys.executable, "-m", module, self.name, self.node.address, str(self.port)]
        log = self._folder / f"{self.name}.log"
        environ = {"PYTHONPATH": str(ROOT)}
        self.process = self._processes.start(
            [*self.node.prefix, *words], self._folder, log, environ
        )

    def wait(self) -> None:
        until(lambda: accepts(self.node.address, self.port), f"{self.name} accepts")

    def behave(self, **behaviour: Any) -> None:
        """Change how it behaves, from its next request on."""
        self._control("POST", orjson.dumps(behaviour))

    def counts(self) -> dict[str, Any]:
        """What it has counted: `requests`, `open`, `most_open`, `statuses`."""
        return dict(orjson.loads(self._control("GET", b"")))

    def _control(self, method: str, body: bytes) -> bytes:
        connection = http.client.HTTPConnection(self.node.address, self.port, timeout=5)
        try:
            connection.request(method, "/control", body)
            return connection.getresponse().read()
        finally:
            connection.close()


def start(network: Network, processes: Processes, folder: Path, count: int) -> list[Replica]:
    """So many replicas, all with one port."""
    folder.mkdir()
    nodes = [network.node(f"replica{number}") for number in range(1, count + 1)]
    port = network.port(nodes[0], 8000)
    replicas = [Replica(node, port, processes, folder) for node in nodes]
    for replica in replicas:
        replica.wait()
    return replicas
