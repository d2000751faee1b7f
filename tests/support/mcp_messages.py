"""Messages of MCP to an application in this process, and the answers to them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import structs

from engine.app.build import build
from engine.app.routes.internal_call import send
from engine.app.services.worker_services import services_of
from engine.exchange.exchange import Exchange
from engine.exchange.internal_request import Request
from engine.mcp.protocol.revisions import MODERN
from engine.plan.assembly.make_plan import make_plan

Json = dict[str, Any]

META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "agent", "version": "1"},
}


def message(method: str, params: Mapping[str, Any] | None = None, **more: Any) -> Json:
    """A message of 2025."""
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}, **more}


def modern(method: str, params: Mapping[str, Any] | None = None, **more: Any) -> Json:
    """A message of 2026."""
    return message(method, {**(params or {}), "_meta": META}, **more)


def head_of(document: Json) -> list[tuple[str, str]]:
    """The headers of a message of 2026."""
    headers = [("mcp-protocol-version", MODERN), ("mcp-method", document["method"])]
    if document["method"] == "tools/call":
        headers.append(("mcp-name", document["params"]["name"]))
    return headers


def call(name: str, arguments: Any = None, **more: Any) -> Json:
    """A call of a tool, of 2026."""
    return modern("tools/call", {"name": name, "arguments": arguments or {}}, **more)


class Gateway:
    """The application of a project with MCP servers; `ended` are the exchanges that were observed,
    in the order of their ends."""

    def __init__(self, folder: Path, files: Mapping[str, str], **services: Any) -> None:
        for name, text in files.items():
            (folder / name).write_text(text)
        planned = make_plan(folder / "gateway.yaml", {"XDG_CACHE_HOME": str(folder / "cache")})
        assert planned.plan is not None, planned.findings.errors
        self.ended: list[Exchange] = []
        opened = services_of(planned.plan)
        changed = structs.replace(opened, observers=[self.ended.append], **services)
        self.plan, self.collectors = planned.plan, changed.collectors
        self.app = build(self.plan, changed)

    def post(
        self,
        document: Any,
        *,
        path: str = "/mcp",
        token: str = "",
        headers: Sequence[tuple[str, str]] = (),
        method: str = "POST",
    ) -> tuple[int, Any]:
        """The status of an answer, and its JSON; None without a body."""
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        fields = [("content-type", "application/json"), *headers]
        if token:
            fields.append(("authorization", f"Bearer {token}"))
        response = send(self.app, Request(method, path, fields, body))
        self.headers = dict(response.headers)
        data = response.read()
        return response.status, json.loads(data) if data else None

    def ask(self, document: Json, **more: Any) -> tuple[int, Any]:
        """As `post`, with the headers that a message of 2026 has."""
        return self.post(document, headers=head_of(document), **more)

    def result(self, name: str, arguments: Any = None, **more: Any) -> Json:
        """The result of a call of a tool."""
        status, document = self.ask(call(name, arguments), **more)
        assert (status, document["id"]) == (200, 1), document
        result: Json = document["result"]
        return result

    def text(self, name: str, arguments: Any = None, **more: Any) -> str:
        """The first text of the result of a call."""
        text: str = self.result(name, arguments, **more)["content"][0]["text"]
        return text
