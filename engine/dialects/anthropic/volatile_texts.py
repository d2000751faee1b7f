"""Parts of a prompt that a client changes with each request, and that no model has to see.

A model server keeps what it computed for the beginning of a prompt. A part that changes in front of
it makes every request a new one: the same conversation takes a multiple of its time, and requests
of one session have different keys for `affinity`.
"""

from __future__ import annotations

import re

from msgspec import Struct


class VolatileText(Struct, frozen=True):
    """The beginning of a text of `system` that `client` changes with each request. `start` begins
    it, `pattern` is all of it; `source` says where that is documented or was seen."""

    client: str
    start: str
    pattern: re.Pattern[str]
    source: str


VOLATILE_TEXTS = (
    # To a base address that is not its vendor's, Claude Code sends this as the first block of
    # `system`, with a checksum of the request (`cch`) and a version that ends with one.
    VolatileText(
        client="Claude Code",
        start="x-anthropic-billing-header:",
        pattern=re.compile(r"x-anthropic-billing-header:[^\n]*\n*"),
        source="code.claude.com/docs/en/env-vars, CLAUDE_CODE_ATTRIBUTION_HEADER",
    ),
)


def stable_text(text: str) -> str:
    """A text of `system` without the parts that change with each request."""
    for each in VOLATILE_TEXTS:
        if text.startswith(each.start):
            return each.pattern.sub("", text, count=1)
    return text
