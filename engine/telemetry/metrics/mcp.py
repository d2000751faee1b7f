"""Metrics of the messages of MCP."""

from __future__ import annotations

from engine.exchange.request_record import McpMessage
from engine.telemetry.metrics.storage.worker_numbers import WorkerNumbers
from engine.values.metric import counter, gauge

MCP_MESSAGES = counter(
    "modelway_mcp_messages_total",
    "server method revision status",
    "Messages to MCP servers. revision is that of the protocol in which a message was answered, "
    "status the class of its HTTP status, of a tools/call that of its operation.",
)
MCP_HELD = gauge(
    "modelway_mcp_held_tools",
    "upstream",
    "Tools of an MCP server behind the gateway that are not listed, because they differ from their "
    "pins or are not fit; the most of all workers.",
    "livemax",
    is_fault=True,
)
MCP_LISTS = counter(
    "modelway_mcp_lists_total",
    "upstream outcome",
    "Lists of tools that were asked of the MCP servers behind the gateway. outcome is received or "
    "failed.",
)


def record_message(worker_numbers: WorkerNumbers, mcp: McpMessage, status: int) -> None:
    """Record an answered message."""
    worker_numbers.add(
        MCP_MESSAGES, (mcp.server, mcp.method, mcp.revision, f"{status // 100}xx"), 1.0
    )
