"""What models read of a tool: its title, description and annotations. Texts of documents are
without HTML and invisible characters, in one paragraph, and bounded."""

from __future__ import annotations

import html
import re

from engine.config.mcp import ToolConfig
from engine.plan.route import Route
from engine.spec.document.node import Node
from engine.spec.operation import Operation

_TAG = re.compile(r"</?[A-Za-z][^<>]{0,500}>")
_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\([^()\s]{0,1000}\)")
_SPACES = re.compile(r"\s+")
_SENTENCE = re.compile(r"[.!?](?=\s)")
_ELLIPSIS = "..."
INVISIBLE = re.compile(
    "[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]|[\0-\x08\x0e-\x1f\x7f]"
)
"""Characters that people do not see and models read: of width zero, of directions, variation
selectors, tags, controls. Those within emoji (U+200D, U+FE0F) are none of these."""
MAX_TITLE = 100
MAX_DESCRIPTION = 1_024
"""Characters of a description that each known model vendor accepts (OpenAI)."""
_SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "QUERY"})
"""Methods that change nothing (RFC 9110, section 9.2.1), and QUERY."""
_IDEMPOTENT = _SAFE | {"PUT", "DELETE"}
_DESTRUCTIVE = frozenset({"PUT", "PATCH", "DELETE"})


def plain_text(text: str, most: int) -> str:
    """The text without HTML tags and without the addresses of links, at most `most` characters
    long; cut after a sentence or a word."""
    text = text[: most * 20]  # a page would take long, and is cut anyway
    if "<" in text:
        text = _TAG.sub(" ", text)
    if "&" in text:
        text = html.unescape(text)
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    if not text.isascii() or not text.isprintable():
        text = INVISIBLE.sub("", text)
    text = _SPACES.sub(" ", text).strip()
    return text if len(text) <= most else _cut(text, most)


def _cut(text: str, most: int) -> str:
    """A text cut after its last complete sentence, or, if that is less than half, after a word."""
    start = text[: most + 1]
    ends = [match.end() for match in _SENTENCE.finditer(start)]
    if ends and ends[-1] > most // 2:
        return start[: ends[-1]]
    words = start[: most - len(_ELLIPSIS)]
    space = words.rfind(" ")
    return words[: space if space > most // 2 else len(words)].rstrip() + _ELLIPSIS


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
