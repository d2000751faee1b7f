"""Metrics of the messages of MCP."""

from __future__ import annotations

from engine.exchange.record import McpMessage
from engine.telemetry.metrics.storage.cells import Cells
from engine.values.metric import counter

MCP_MESSAGES = counter(
    "modelway_mcp_messages_total",
    "server method revision status",
    "Messages to MCP servers. revision is that of the protocol in which a message was answered, "
    "status the class of its HTTP status, of a tools/call that of its operation.",
)


def record_message(cells: Cells, mcp: McpMessage, status: int) -> None:
    """Record an answered message."""
    cells.add(MCP_MESSAGES, (mcp.server, mcp.method, mcp.revision, f"{status // 100}xx"), 1.0)
