"""How long small requests wait behind large ones.

    python -m benchmarks.stall [ROUNDS [NAME ...]]

Two gateways of one worker each have the shipped config; one of them also has a `deny` over all
messages and transforms of requests and responses. While a large request of a kind is served, small
ones are sent one after the other, over one connection and from a process of its own. Printed are
the longest of their times in each round, and that without the large request in the same rounds.
Kinds take turns. NAME is a part of a kind's name. Then ten requests of 10 MB are sent each second,
and the 99th percentile of the small ones is printed. Linux only.
"""

from __future__ import annotations

import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Thread
from typing import NamedTuple

from benchmarks.serving import BODY, HEADERS, first_answer, write_project
from benchmarks.stall.kinds import CHAT, KINDS, MANY, Kind
from tests.support.frames import KEY, TEXT, Peer
from tests.support.ports import free_port
from tests.support.recording import Wire, request
from tests.support.running import listens
from tests.support.waiting import until

_REST = 0.5
"""Seconds of small requests before and after a large one."""
_MIXED, _PER_SECOND = 10, 10
"""Seconds of mixed load, and its large requests per second."""
_JUDGES = """policies:
  - deny:
      if:
        body:
          messages: {contains: {properties: {content: {pattern: "(?i)pass(word|phrase) is"}}}}
  - transform:
      request: {body: {remove: ["$.messages[*].name"], default: {temperature: 0.5}}}
      response: {body: {remove: [system_fingerprint]}}
"""


class Waits(NamedTuple):
    """Times of small requests in milliseconds: at rest, and beside large ones."""

    rest: list[float]
    beside: list[float]


def main(rounds: int, names: list[str]) -> None:
    """Print the waits behind each kind of request, and under mixed load."""
    kinds = [kind for kind in KINDS if any(name in kind.name for name in names or [""])]
    longest: dict[str, list[tuple[float, float]]] = {kind.name: [] for kind in kinds}
    with ExitStack() as stack:
        upstream = stack.enter_context(_upstream())
        ports = {
            judged: stack.enter_context(_gateway(upstream, judged)) for judged in (False, True)
        }
        for _ in range(rounds):
            for kind in kinds:
                body, port = kind.body(), ports[kind.judged]
                waits = _measure(
                    port, lambda kind=kind, body=body, port=port: _send(kind, body, port)
                )
                longest[kind.name].append((max(waits.rest), max(waits.beside)))
        mixed = [] if names else [_measure(ports[False], lambda: _send_many(ports[False]))]
    print(f"{'longest, milliseconds':32} {'at rest':>8} {'behind it, each round':>24}")
    for name, waits_of_kind in longest.items():
        behind = " ".join(f"{wait:8.1f}" for _, wait in waits_of_kind)
        print(f"{name:32} {max(rest for rest, _ in waits_of_kind):8.1f} {behind}")
    for waits in mixed:
        rest, beside = (statistics.quantiles(times, n=100)[98] for times in waits)
        print(f"p99 beside {_PER_SECOND} x 10 MB a second: {beside:.1f} ms; at rest: {rest:.1f} ms")


def _measure(port: int, work: Callable[[], None]) -> Waits:
    """The times of small requests before and during `work`."""
    prober = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.stall", "probe", str(port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    time.sleep(3 * _REST)
    begin = time.monotonic()
    work()
    end = time.monotonic()
    time.sleep(_REST)
    output, _ = prober.communicate("end\n")
    waits = Waits([], [])
    for line in output.splitlines():
        start, seconds = map(float, line.split())
        if start + seconds < begin:
            waits.rest.append(seconds * 1000)
        elif start < end + _REST / 2:
            waits.beside.append(seconds * 1000)
    return waits


def _send(kind: Kind, body: bytes, port: int) -> None:
    """Send a large request, and read its answer."""
    if kind.socket:
        _converse(kind, body, port)
        return
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request("POST", kind.path, body, {**HEADERS, "content-type": kind.media_type})
    response = connection.getresponse()
    beginning = response.read(1_000)
    while response.read(1 << 20):
        pass
    connection.close()
    if response.status != kind.status:
        raise SystemExit(f"{kind.name}: answered {response.status}: {beginning.decode()}")


def _converse(kind: Kind, message: bytes, port: int) -> None:
    """Send a large message over a WebSocket, and a small one that continues its conversation."""
    wire = Wire(port)
    upgrade = ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"]
    wire.send(
        request(kind.path, headers=[*upgrade, f"Sec-WebSocket-Key: {KEY}"], token="mw-bench-one")
    )
    if wire.head()[0] != kind.status:
        raise SystemExit(f"{kind.name}: the upgrade is refused")
    peer = Peer(wire.sock, client=True)
    peer.send(TEXT, message)
    last = json.loads(_last(peer))
    more = {"previous_response_id": last["response"]["id"], "input": "And?", "store": False}
    peer.text(json.dumps({"type": "response.create", "model": "gpt-turn", **more}))
    _last(peer)
    wire.close()


def _last(peer: Peer) -> bytes:
    """The last event of a response."""
    while b'"response.completed"' not in (data := peer.next().data):
        if b'"error"' in data:
            raise SystemExit(data.decode())
    return data


def _send_many(port: int) -> None:
    """Send large requests at a steady rate."""
    body, begin = MANY.body(), time.monotonic()
    senders = []
    for number in range(_MIXED * _PER_SECOND):
        time.sleep(max(0.0, begin + number / _PER_SECOND - time.monotonic()))
        senders.append(Thread(target=_send, args=(MANY, body, port)))
        senders[-1].start()
    for sender in senders:
        sender.join()


def _probe(port: int) -> None:
    """Send small requests until a line comes; print when each began and how long it took."""
    times: list[tuple[float, float]] = []
    connection = http.client.HTTPConnection("127.0.0.1", port)
    ends = Thread(target=sys.stdin.readline, daemon=True)
    ends.start()
    while ends.is_alive():
        begin = time.monotonic()
        connection.request("POST", CHAT, BODY, HEADERS)
        connection.getresponse().read()
        times.append((begin, time.monotonic() - begin))
        time.sleep(0.001)
    for begin, seconds in times:
        print(f"{begin} {seconds}")


@contextmanager
def _upstream() -> Iterator[int]:
    port = free_port()
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.stall.upstream", str(port)])
    try:
        until(lambda: listens(port), "the upstream")
        yield port
    finally:
        process.terminate()
        process.wait()


@contextmanager
def _gateway(upstream: int, judged: bool) -> Iterator[int]:
    url, port = f"http://127.0.0.1:{upstream}/v1", free_port()
    keys = {"OPENAI_API_KEY": "x", "ANTHROPIC_API_KEY": "x"}
    environ = {"OPENAI_UPSTREAM": url, "ANTHROPIC_UPSTREAM": url, **keys}
    with tempfile.TemporaryDirectory() as folder:
        config = write_project(folder, port, "off")
        head, _, rest = config.read_text().partition("\npolicies:")
        tokens = rest.partition("\ntokens:")[2]
        config.write_text(f"{head}\n{_JUDGES if judged else ''}\ntokens:{tokens}")
        process = _serve(str(config), environ)
        try:
            first_answer(port, time.monotonic())
            yield port
        finally:
            process.terminate()
            process.wait()


def _serve(config: str, environ: dict[str, str]) -> subprocess.Popen[bytes]:
    """A gateway whose log goes nowhere."""
    command = [sys.executable, "-m", "engine", "serve", "--config", config]
    nowhere = subprocess.DEVNULL
    return subprocess.Popen(command, env={**os.environ, **environ}, stdout=nowhere, stderr=nowhere)


if __name__ == "__main__":
    if sys.argv[1:2] == ["probe"]:
        _probe(int(sys.argv[2]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 1, sys.argv[2:])
