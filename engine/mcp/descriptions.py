"""The title, the description and the annotations of a tool."""

from __future__ import annotations

from engine.config.mcp import ToolConfig
from engine.mcp.texts import plain_text
from engine.plan.route import Route
from engine.spec.document.node import Node
from engine.spec.operation import Operation

MAX_TITLE = 100
MAX_DESCRIPTION = 1_024
"""Characters of a description that each known model vendor accepts (OpenAI)."""

_SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "QUERY"})
"""Methods that change nothing (RFC 9110, section 9.2.1), and QUERY."""
_IDEMPOTENT = _SAFE | {"PUT", "DELETE"}
_DESTRUCTIVE = frozenset({"PUT", "PATCH", "DELETE"})


def title_of(node: Node) -> str:
    """The summary of an operation, "" if it has none."""
    return plain_text(node.text("summary"), MAX_TITLE)


def description_of(node: Node, operation: Operation) -> str:
    """The summary and the description of an operation; without both, its method and path."""
    summary, text = node.text("summary").strip(), node.text("description").strip()
    summary = plain_text(summary, MAX_DESCRIPTION)
    text = plain_text(text, MAX_DESCRIPTION)
    if summary and not text.startswith(summary):
        end = "" if summary.endswith((".", "!", "?")) else "."
        text = f"{summary}{end} {text}" if text else summary
    return plain_text(text, MAX_DESCRIPTION) or f"{operation.method} {operation.path}"


def annotations_of(route: Route, changes: ToolConfig) -> dict[str, bool]:
    """The hints for clients, by the method. Whether a POST destroys something is not known, so
    nothing is said of it; clients then expect that it does."""
    method = route.operation.method
    reads = changes.read_only if changes.read_only is not None else method in _SAFE
    hints = {"readOnlyHint": reads}
    if not reads:
        if method in _DESTRUCTIVE:
            hints["destructiveHint"] = True
        hints["idempotentHint"] = method in _IDEMPOTENT
    hints["openWorldHint"] = route.answer is None
    return hints
