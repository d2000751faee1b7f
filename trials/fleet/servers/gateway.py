"""One instance of the gateway, on a node with a disk of its own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from engine.process.runtime_dir import runtime_directory
from trials.fleet.network import Network, Node
from trials.fleet.processes import Kill, Process, Processes
from trials.fleet.waiting import accepts, until

ROOT = Path(__file__).resolve().parents[3]


class Gateway:
    """`modelway serve` with a config; `listen` and the telemetry's address are added to it."""

    def __init__(
        self,
        network: Network,
        node: Node,
        processes: Processes,
        folder: Path,
        config: Mapping[str, Any],
    ) -> None:
        self.node = node
        self.port, self.telemetry = network.port(node, 8080), network.port(node, 9464)
        self._processes, self._folder = processes, folder
        folder.mkdir()
        self.write(config)

    def write(self, config: Mapping[str, Any]) -> None:
        """Write its config; a running instance keeps the one that it has."""
        server = {**config["server"], "listen": f"{self.node.address}:{self.port}"}
        telemetry = {
            "listen": f"{self.node.address}:{self.telemetry}",
            "allow_ips": ["0.0.0.0/0"],
            "access_log": {"path": str(self._folder / "access.log")},
        }
        value = {**config, "server": server, "telemetry": telemetry}
        (self._folder / "gateway.yaml").write_bytes(orjson.dumps(value))

    def start(self, wait: bool = True) -> Process:
        """Start it (again), and wait until it is ready."""
        words = [sys.executable, "-m", "engine", "serve", "-c", "gateway.yaml"]
        environ = {"PYTHONPATH": str(ROOT), "NO_PROXY": "*", "PYTHONUNBUFFERED": "1"}
        log = self._folder / "log"
        self.process = self._processes.start(
            [*self.node.prefix, *words], self._folder, log, environ
        )
        self.process.end = self._end
        if wait:
            self.wait()
        return self.process

    def _end(self) -> None:
        """Kill it, and remove what it keeps in shared memory."""
        self.process.kill()
        folder = runtime_directory(self._folder / "gateway.yaml")
        metrics = f"modelway-metrics-{os.getuid()}-{self.process.pid}-*"
        for path in (folder, *folder.parent.glob(metrics)):
            shutil.rmtree(path, ignore_errors=True)

    def wait(self) -> float:
        """Wait until it is ready; the seconds that took. Raises TimeoutError with its log."""
        try:
            return until(lambda: self._ready_or_ended(), f"{self.node.name} is ready", 60)
        except TimeoutError as error:
            raise TimeoutError(f"{error}:\n{self.process.output()}") from None

    def ready(self) -> bool:
        """What its load balancer is told."""
        return _status(self.node.url(self.telemetry, "/readyz")) == 200

    def kill(self) -> Kill:
        """Kill it with all of its workers, and wait until the kernel refuses its connections."""
        sent = time.monotonic()
        self.process.kill()
        refuses = lambda: not accepts(self.node.address, self.port)  # noqa: E731
        until(refuses, f"{self.node.name} is gone")
        return Kill(sent, time.monotonic())

    @property
    def journal(self) -> Path:
        """The folder of its rows that are not in the database."""
        return self._folder / "var/journal"

    def command(self, *arguments: str) -> str:
        """What a command of `modelway` prints with its config. Raises OSError if it fails."""
        words = [sys.executable, "-m", "engine", *arguments, "-c", "gateway.yaml"]
        environ = {**os.environ, "PYTHONPATH": str(ROOT)}
        result = subprocess.run(
            [*self.node.prefix, *words],
            cwd=self._folder,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode:
            raise OSError(f"{self.node.name}: {result.stdout}{result.stderr}")
        return result.stdout.strip()

    def stop(self) -> int:
        """Ask it to end, as systemd does, and wait; its exit status."""
        self.process.signal(signal.SIGTERM)
        return self.process.wait(180)

    def errors(self) -> list[str]:
        """What its own log says of level `error`, and what else is in it of tracebacks."""
        lines = self.process.log.read_text(errors="replace").splitlines()
        return [line for line in lines if '"level": "error"' in line or "Traceback" in line]

    def _ready_or_ended(self) -> bool:
        if not self.process.running:
            raise TimeoutError(f"{self.node.name} ended")
        return self.ready()


def _status(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=2) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0
