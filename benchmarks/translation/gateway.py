"""The worker of a real gateway with everything on: relayed and translated chats in turns.

For each language of callers one turn asks for the model of the same language, which is relayed, and
for those of the others. What a translation adds is the median of what its turns took beyond the
relayed one right before them; the quartiles tell how sure that is.
"""

from __future__ import annotations

import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import gevent
import gevent.socket

from benchmarks.serving import start, workers
from benchmarks.translation.chats import LANGUAGES
from benchmarks.translation.setup import CONFIG, messages
from benchmarks.translation.vendors import TOKENS, read_message
from benchmarks.upstream_leg import cpu_per_unit
from engine.values.caller import digest
from tests.support.ports import free_port

CONNECTIONS, STREAMS, REQUESTS = 16, 40, 800
_CALLERS = [f"mw-{number:064x}" for number in range(10)]
_OPENAPI = Path(__file__).parents[2] / "openapi"

Work = Callable[[Iterator[bytes]], None]


@contextmanager
def running(folder: str) -> Iterator[tuple[int, int]]:
    """Port and worker of a gateway in front of the vendors."""
    port, upstream = free_port(), free_port()
    config = Path(folder, "gateway.yaml")
    lines = [f"  - {{name: t{n}, sha256: {digest(token)}}}" for n, token in enumerate(_CALLERS)]
    config.write_text(CONFIG.format(listen=port, port=upstream, tokens="\n".join(lines)))
    shutil.copytree(_OPENAPI, Path(folder, "openapi"))
    command = [sys.executable, "-m", "benchmarks.translation.vendors", str(upstream)]
    vendors = subprocess.Popen(command)
    process = start("serve", "--config", str(config), environ={"NO_PROXY": "*"})
    try:
        _wait(port, upstream)
        yield port, workers(process.pid)[0]
    finally:
        for child in (process, vendors):
            child.terminate()
            child.wait()


def _wait(*ports: int) -> None:
    """Wait until a worker answers on each port. SystemExit after a minute."""
    end = time.monotonic() + 60
    for port in ports:
        while True:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port)) as sock:
                sock.sendall(b"GET /missing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                if sock.recv(1000):
                    break
            if time.monotonic() > end:
                raise SystemExit("the gateway or its upstream did not start")
            time.sleep(0.1)


def ask(port: int, requests: Iterator[bytes], count: int) -> None:
    """Send requests over some connections at once. SystemExit when one is refused."""

    def caller() -> None:
        with gevent.socket.create_connection(("127.0.0.1", port)) as sock:
            for _ in range(count // CONNECTIONS):
                sock.sendall(next(requests))
                head, body = read_message(sock)
                if not head.startswith(b"HTTP/1.1 200") or len(body) < 500:
                    raise SystemExit(head + body[:500])

    gevent.joinall([gevent.spawn(caller) for _ in range(CONNECTIONS)], raise_error=True)


def hold(port: int, requests: Iterator[bytes]) -> None:
    """Take streams at once, to their ends. SystemExit when one is refused or cut."""

    def caller() -> None:
        with gevent.socket.create_connection(("127.0.0.1", port)) as sock:
            sock.sendall(next(requests))
            tail, events = b"", 0
            while not tail.endswith(b"0\r\n\r\n"):
                data = sock.recv(65536)
                events += data.count(b"data: ")
                tail = (tail + data)[-500:]
                if not data or data.startswith((b"HTTP/1.1 4", b"HTTP/1.1 5")):
                    raise SystemExit(f"a stream was refused or cut: {tail!r}")
            if events < TOKENS:
                raise SystemExit(f"a stream has {events} events")

    gevent.joinall([gevent.spawn(caller) for _ in range(STREAMS)], raise_error=True)


def measure(turns: int = 9) -> None:
    """Print what translations add to a chat and to an event."""
    with tempfile.TemporaryDirectory() as folder, running(folder) as (port, pid):
        for source in LANGUAGES:  # to warm up
            for target in LANGUAGES:
                requests = messages(source, target.name, _CALLERS, stream=False)
                ask(port, requests, 2 * CONNECTIONS)
        costs = _turns(
            turns, pid, REQUESTS, lambda requests: ask(port, requests, REQUESTS), stream=False
        )
        _report("chat", costs)
        costs = _turns(
            turns, pid, STREAMS * TOKENS, lambda requests: hold(port, requests), stream=True
        )
        _report("event", costs)


def _turns(
    turns: int, pid: int, units: int, work: Work, *, stream: bool
) -> dict[tuple[str, str], list[float]]:
    """The CPU microseconds per unit that each turn took, by the languages of caller and vendor."""
    costs: dict[tuple[str, str], list[float]] = {}
    for _ in range(turns):
        for source in LANGUAGES:
            for target in [source, *(language for language in LANGUAGES if language is not source)]:
                requests = messages(source, target.name, _CALLERS, stream=stream)
                costs.setdefault((source.name, target.name), []).append(
                    cpu_per_unit(pid, partial(work, requests), units)
                )
    return costs


def _report(unit: str, costs: dict[tuple[str, str], list[float]]) -> None:
    for (source, target), crossing_costs in costs.items():
        relayed = costs[source, source]
        if source == target:
            print(f"{source:<40}{statistics.median(crossing_costs):7.1f} us CPU per relayed {unit}")
            continue
        differences = [more - less for more, less in zip(crossing_costs, relayed, strict=True)]
        least, middle, most = statistics.quantiles(differences, n=4)
        print(f"    -> {target:<33}{middle:7.1f} us more ({least:.1f} to {most:.1f})")
