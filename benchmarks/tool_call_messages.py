"""An operation, and how it is called: by HTTP and as a tool of MCP, with the same values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from engine.mcp.protocol.revisions import META, MODERN

TOKEN = "mw-" + "a" * 64
CONFIG = """
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
DOCUMENT = """
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
ORDER = {"item": "lamp", "count": 2, "note": "by the door", "gift": False}


def request_of(number: int, order: Mapping[str, Any]) -> bytes:
    """The request of an order, as it is sent."""
    path = f"/shops/shop{number}/orders?notify=true&source=desk"
    return _message(path, orjson.dumps(order))


def call_of(number: int, order: Mapping[str, Any]) -> bytes:
    """The message that calls the tool with the same order."""
    arguments = {"shop": f"store{number}", "notify": True, "source": "desk", "body": order}
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
