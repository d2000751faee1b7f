"""What the call of a tool costs beside the same request over HTTP: `python -m
benchmarks.tool_calls`.

An operation with one variable of its path, two parameters of its query and four members of its body
is called over one connection, as a request and as `tools/call` of MCP, by a worker in this process.
Prints the steps of the interpreter in the engine that each takes: they are the same on every
machine.
"""

from __future__ import annotations

import os
import tempfile
from itertools import count
from pathlib import Path
from typing import Any

import gevent
import gevent.monkey

gevent.monkey.patch_all()

from benchmarks.counts import clocks  # noqa: E402

clocks.stop()

import orjson  # noqa: E402
from gevent.server import StreamServer  # noqa: E402

from benchmarks.counts.house import BATCH, House  # noqa: E402
from benchmarks.counts.meters import Bytecodes  # noqa: E402
from benchmarks.tool_call_messages import (  # noqa: E402
    CONFIG,
    DOCUMENT,
    ORDER,
    call_of,
    request_of,
)
from benchmarks.translation.vendors import read_message  # noqa: E402

_ANSWER = orjson.dumps({"id": "order_1", "state": "open", **ORDER})


def main() -> None:
    meter = Bytecodes()
    upstream = StreamServer(("127.0.0.1", 0), _answer)
    upstream.start()
    with tempfile.TemporaryDirectory() as name:
        Path(name, "orders.yaml").write_text(DOCUMENT)
        house = House(Path(name), upstream.server_port or 0, CONFIG)
        try:
            costs = [_cost(meter, house.connect(), write) for write in (request_of, call_of)]
        finally:
            house.close()
    request, call = costs
    print(f"bytecodes per request: {request:,.0f}", flush=True)
    print(f"bytecodes per call of a tool: {call:,.0f} ({call / request:.2f} times)", flush=True)
    os._exit(0)  # neither threads nor exit handlers: what was counted is counted


def _cost(meter: Bytecodes, sock: Any, write: Any) -> float:
    numbers = count(1)
    for _ in range(2 * BATCH):
        _ask(sock, write(next(numbers), ORDER))
    meter.zero()
    for _ in range(BATCH):
        _ask(sock, write(next(numbers), ORDER))
    return meter.read() / BATCH


def _ask(sock: Any, message: bytes) -> None:
    sock.sendall(message)
    head, body = read_message(sock)
    if not head.startswith(b"HTTP/1.1 200") or b"order_1" not in body:
        raise RuntimeError(head + body[:500])


def _answer(sock: Any, address: object) -> None:
    """The upstream."""
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    while read_message(sock)[0]:
        sock.sendall(head % len(_ANSWER) + _ANSWER)


if __name__ == "__main__":
    main()
