"""The CPU of a tool's call beside that of the same request over HTTP: `python -m
benchmarks.tool_call_cpu [rounds]`.

The operation of `benchmarks.tool_calls` is called over two connections to a gateway with one
worker, in short turns, with bodies of several sizes; the upstream answers with what it got. Prints
the time that the worker and the heavy worker took. Linux only: it reads /proc.
"""

from __future__ import annotations

import os
import socket
import statistics
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer
from typing import Any

import orjson

from benchmarks.serving import cpu_seconds, start
from benchmarks.tool_call_messages import CONFIG, DOCUMENT, ORDER, TOKEN, call_of, request_of
from benchmarks.translation.vendors import read_message
from engine.server.recorder_process import RECORDER_NAME
from engine.values.caller import digest
from tests.support.ports import free_port
from tests.support.waiting import until

_LINES = (0, 16, 160, 1_600)
"""Lines of an order, of 62 bytes each."""
_ROUNDS, _CALLS = 20, 40
_LINE = {"sku": "sku-000001", "count": 2, "price": 12.25, "text": "\u00e9 and more"}


class _Upstream(BaseRequestHandler):
    """Answers with the order that it got."""

    def handle(self) -> None:
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
        while body := read_message(self.request)[1]:
            answer = b'{"id":"order_1",' + body[1:]
            self.request.sendall(head % len(answer) + answer)


def main(rounds: int) -> None:
    upstream = ThreadingTCPServer(("127.0.0.1", 0), _Upstream)
    upstream.daemon_threads = True
    threading.Thread(target=upstream.serve_forever, daemon=True).start()
    port = free_port()
    with tempfile.TemporaryDirectory() as name:
        config = CONFIG.format(port=upstream.server_address[1], digest=digest(TOKEN))
        listen = f'server: {{workers: 1, listen: "127.0.0.1:{port}"}}'
        Path(name, "gateway.yaml").write_text(config.replace("server: {workers: 1}", listen))
        Path(name, "orders.yaml").write_text(DOCUMENT)
        environ = {"XDG_CACHE_HOME": f"{name}/cache"}
        gateway = start("serve", "--config", f"{name}/gateway.yaml", environ=environ)
        try:
            until(lambda: _connects(port))
            _measure(gateway.pid, port, rounds)
        finally:
            gateway.terminate()
            gateway.wait()


def _connects(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def _measure(master: int, port: int, rounds: int) -> None:
    connections = [socket.create_connection(("127.0.0.1", port)) for _ in range(2)]
    ways = [*zip(connections, (request_of, call_of), strict=True)]
    numbers = count(1)
    for sock, write in ways:  # the processes have their names when they answer
        _cost([], sock, write, ORDER, numbers)
    pids = _processes(master)
    for lines in _LINES:
        order = {**ORDER, **({"lines": [_LINE] * lines} if lines else {})}
        for sock, write in ways:
            _cost(pids, sock, write, order, numbers)
        costs = [[_cost(pids, *way, order, numbers) for way in ways] for _ in range(rounds)]
        request, call = (statistics.median(each) for each in zip(*costs, strict=True))
        ratio = statistics.median(call / request for request, call in costs)
        size = len(orjson.dumps(order))
        print(f"{size:>7,} bytes: {request:,.0f} us, as a tool {call:,.0f} us ({ratio:.2f} times)")


def _cost(
    pids: list[int],
    sock: socket.socket,
    write: Callable[[int, Mapping[str, Any]], bytes],
    order: Mapping[str, Any],
    numbers: count[int],
) -> float:
    """Microseconds of CPU for each of some calls."""
    messages = [write(next(numbers), order) for _ in range(_CALLS)]
    before = sum(map(cpu_seconds, pids))
    for message in messages:
        sock.sendall(message)
        head, body = read_message(sock)
        if not head.startswith(b"HTTP/1.1 200") or b"order_1" not in body:
            raise RuntimeError(head + body[:500])
    return (sum(map(cpu_seconds, pids)) - before) / _CALLS * 1e6


def _processes(master: int) -> list[int]:
    """The processes of a gateway that serve requests."""
    text = Path(f"/proc/{master}/task/{master}/children").read_text()
    names = {int(pid): Path(f"/proc/{pid}/comm").read_text().strip() for pid in text.split()}
    return [pid for pid, name in names.items() if name != RECORDER_NAME]


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else _ROUNDS)
    os._exit(0)  # the upstream's threads wait for requests
