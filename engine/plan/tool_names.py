"""The names of tools: of operations, as model vendors and clients accept them.

The law: a name has letters, digits, `_` and `-`, begins with a letter or `_`, and with the prefix
`mcp__SERVER__`, under which clients show it to models, is at most MAX_NAME characters long (OpenAI,
Google; Anthropic takes 128). A name depends on nothing but its server and its operation, unless an
operation that comes first in the order of ids has the same.
"""

from __future__ import annotations

import re
from hashlib import sha256

MAX_NAME = 64
"""Characters of a name that every known vendor and client accepts."""

_UNUSABLE = re.compile(r"[^A-Za-z0-9_-]+")
_VARIABLE = re.compile(r"\{[^{}]*\}")
_MIN_NAME = 24
_DIGEST = 6


def prefix(server: str) -> str:
    """What clients put before the names of a server's tools."""
    return f"mcp__{server}__"


def longest(server: str) -> int:
    """The most characters of the name of a tool of a server."""
    return max(MAX_NAME - len(prefix(server)), _MIN_NAME)


def tool_name(operation: str, most: int = MAX_NAME) -> str:
    """The name of the tool of an operation, given as its operationId or `METHOD /path`."""
    method, space, path = operation.partition(" /")
    text = f"{method.lower()}_{path}" if space else operation
    name = _UNUSABLE.sub("_", _VARIABLE.sub(_variable, text)).strip("_")
    if not name.strip("_-"):
        name = f"tool_{_digest(operation)}"
    if name[0] in "-0123456789":
        name = f"_{name}"
    return name if len(name) <= most else shortened(name, operation, most)


def shortened(name: str, operation: str, most: int) -> str:
    """A name cut between words, with a digest of its operation, which keeps it unique."""
    rest = most - _DIGEST - 1
    start = name[: rest + 1]
    cut = max(start.rfind("_"), start.rfind("-"))
    return f"{name[: cut if cut > rest // 2 else rest].rstrip('_-')}_{_digest(operation)}"


def _variable(match: re.Match[str]) -> str:
    return f"by_{match[0][1:-1]}"


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:_DIGEST]
