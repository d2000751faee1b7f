"""Metrics of the messages of MCP."""

from __future__ import annotations

from collections import Counter

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


class MessageCounter:
    """Counts answered messages. `record` writes the counts."""

    def __init__(self, worker_numbers: WorkerNumbers) -> None:
        self._worker_numbers = worker_numbers
        self._pending = Counter[tuple[str, str, str, int]]()

    def count(self, mcp: McpMessage, status: int) -> None:
        self._pending[mcp.server, mcp.method, mcp.revision, status // 100] += 1

    def record(self) -> None:
        pending, self._pending = self._pending, Counter()
        for (server, method, revision, status), count in pending.items():
            labels = (server, method, revision, f"{status}xx")
            self._worker_numbers.add(MCP_MESSAGES, labels, count)
