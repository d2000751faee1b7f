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

from benchmarks.counts.house import BATCH, TOKEN, House  # noqa: E402
from benchmarks.counts.meters import Bytecodes  # noqa: E402
from benchmarks.translation.vendors import read_message  # noqa: E402
from engine.tools.protocol.revisions import META, MODERN  # noqa: E402

_CONFIG = """
version: 1
server: {{workers: 1}}
stores: {{records: "sqlite:///var/modelway.db", counters: memory}}
specs: {{orders: {{document: orders.yaml}}}}
upstreams: {{orders: {{url: http://127.0.0.1:{port}, credential: {{bearer: "sk-scripted"}}}}}}
telemetry: {{access_log: {{path: access.log}}}}
policies: [{{rate_limit: {{requests: 100000000, per: 1m}}}}]
routes: [{{operations: [orders.*], to: [{{upstream: orders}}]}}]
mcp: {{orders: {{path: /mcp, operations: [orders.*]}}}}
tokens: [{{name: counted, sha256: {digest}}}]
"""
_DOCUMENT = """
openapi: 3.1.0
info: {title: Orders, version: "1"}
paths:
  /shops/{shop}/orders:
    post:
      operationId: createOrder
      parameters:
        - {name: shop, in: path, required: true, schema: {type: string}}
        - {name: notify, in: query, schema: {type: boolean}}
        - {name: source, in: query, schema: {type: string}}
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [item, count]
              properties:
                item: {type: string}
                count: {type: integer, minimum: 1}
                note: {type: string}
                gift: {type: boolean}
      responses: {"200": {description: the order}}
"""
_ORDER = {"item": "lamp", "count": 2, "note": "by the door", "gift": False}
_ANSWER = orjson.dumps({"id": "order_1", "state": "open", **_ORDER})


def main() -> None:
    meter = Bytecodes()
    upstream = StreamServer(("127.0.0.1", 0), _answer)
    upstream.start()
    with tempfile.TemporaryDirectory() as name:
        Path(name, "orders.yaml").write_text(_DOCUMENT)
        house = House(Path(name), upstream.server_port or 0, _CONFIG)
        try:
            costs = [_cost(meter, house.connect(), write) for write in (_request, _call)]
        finally:
            house.close()
    request, call = costs
    print(f"bytecodes per request: {request:,.0f}", flush=True)
    print(f"bytecodes per call of a tool: {call:,.0f} ({call / request:.2f} times)", flush=True)
    os._exit(0)  # neither threads nor exit handlers: what was counted is counted


def _cost(meter: Bytecodes, sock: Any, write: Any) -> float:
    numbers = count(1)
    for _ in range(2 * BATCH):
        _ask(sock, write(next(numbers)))
    meter.zero()
    for _ in range(BATCH):
        _ask(sock, write(next(numbers)))
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


def _request(number: int) -> bytes:
    path = f"/shops/shop{number}/orders?notify=true&source=desk"
    return _message(path, orjson.dumps(_ORDER))


def _call(number: int) -> bytes:
    arguments = {"shop": f"store{number}", "notify": True, "source": "desk", "body": _ORDER}
    meta = {
        f"{META}protocolVersion": MODERN,
        f"{META}clientInfo": {"name": "benchmark", "version": "1"},
        f"{META}clientCapabilities": {},
    }
    params = {"name": "createOrder", "arguments": arguments, "_meta": meta}
    call = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    headers = {
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": "tools/call",
        "Mcp-Name": "createOrder",
    }
    return _message("/mcp", orjson.dumps(call), **headers)


def _message(path: str, body: bytes, **headers: str) -> bytes:
    fields = {
        "Host": "127.0.0.1:8080",
        "User-Agent": "benchmarks/1",
        "Accept": "application/json, text/event-stream",
        "Authorization": f"Bearer {TOKEN}",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        **headers,
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"POST {path} HTTP/1.1\r\n{lines}\r\n".encode() + body


if __name__ == "__main__":
    main()
