"""A scripted MCP server behind the gateway: of either era, honest or hostile."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.values.caller import digest
from tests.support.recording import ReceivedRequest, answer

Json = dict[str, Any]

ALICE, BOB, CAROL = (f"mw-{letter * 64}" for letter in "678")
CONFIG = f"""version: 1
upstreams:
  far: {{mcp: "URL/mcp/", credential: {{bearer: sk-hush}}, proxy: "", forward_headers: [x-user]}}
mcp:
  all: {{path: /mcp, servers: {{far: {{}}}}}}
  few: {{path: /few, servers: {{far: {{prefix: f-, tools: ["*", "!drop*"]}}}}}}
tokens:
  - {{name: alice, sha256: {digest(ALICE)}}}
  - {{name: bob, sha256: {digest(BOB)}, operations: [far.show]}}
  - {{name: carol, sha256: {digest(CAROL)}, rate: 1/day}}
"""


def tool(name: str, **more: Any) -> Json:
    """A tool as a server lists it."""
    schema = {"type": "object", "properties": {"id": {"type": "string"}}}
    return {"name": name, "description": f"The tool {name}.", "inputSchema": schema, **more}


def event(message: Mapping[str, Any]) -> bytes:
    return b"event: message\ndata: " + json.dumps(message).encode() + b"\n\n"


@dataclass
class Script:
    """The server. `modern` says which era it speaks, `stream` whether it answers with events, after
    the messages `before`. `results` are those of calls by the name of the tool; `sessions` are
    those that are open. `speak` of a Recorder."""

    modern: bool = True
    stream: bool = False
    tools: list[Json] = field(default_factory=lambda: [tool("show"), tool("drop")])
    results: dict[str, Any] = field(default_factory=dict)
    before: list[Json] = field(default_factory=list)
    raw: dict[str, Any] = field(default_factory=dict)
    """How methods are answered in another way, as a `Speak`."""
    sessions: set[str] = field(default_factory=set)
    opened: int = 0
    messages: list[tuple[str, ReceivedRequest]] = field(default_factory=list)
    more: Json = field(default_factory=dict)

    def count(self, method: str) -> int:
        return sum(name == method for name, _ in self.messages)

    def __call__(self, received: ReceivedRequest, sock: Any) -> None:
        if received.line.startswith("DELETE"):
            self.sessions.discard(received.values("mcp-session-id")[0])
            self.messages.append(("DELETE", received))
            answer(b"", status=200)(received, sock)
            return
        message = json.loads(received.body)
        method = message["method"]
        self.messages.append((method, received))
        if method in self.raw:
            self.raw[method](received, sock)
            return
        self._answer(message, received, sock)

    def _answer(self, message: Json, received: ReceivedRequest, sock: Any) -> None:
        method, headers = message["method"], ["Content-Type: application/json"]
        is_legacy = "_meta" not in message.get("params", {})
        if is_legacy == self.modern:
            error = {"code": -32601, "message": "Method not found"}
            reply(message, sock, received, error=error, status=404 if self.modern else 400)
            return
        if "id" not in message:
            answer(b"", [], 202)(received, sock)
            return
        if method == "initialize":
            self.opened += 1
            self.sessions.add(f"s{self.opened}")
            headers.append(f"Mcp-Session-Id: s{self.opened}")
            result: Json = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
        elif is_legacy and received.values("mcp-session-id")[0] not in self.sessions:
            answer(b"{}", status=404)(received, sock)
            return
        elif method == "server/discover":
            result = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
        elif method == "tools/list":
            result = {"tools": self.tools, **self.more}
        else:
            params = message["params"]
            text = json.dumps(params.get("arguments"))
            content = {"content": [{"type": "text", "text": text}]}
            result = self.results.get(params["name"], content)
        if self.modern:
            result = {"resultType": "complete", **result}
        document = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        if self.stream and method == "tools/call":
            body = b"".join(map(event, [*self.before, document]))
            head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
            sock.sendall(head + body)  # and the stream stays open
            return
        answer(json.dumps(document).encode(), headers)(received, sock)


def reply(message: Json, sock: Any, received: ReceivedRequest, *, status: int, error: Json) -> None:
    document = {"jsonrpc": "2.0", "id": message.get("id"), "error": error}
    answer(json.dumps(document).encode(), status=status)(received, sock)
