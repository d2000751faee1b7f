"""Names of tools and ids of calls that another vendor accepts."""

from __future__ import annotations

import re
from hashlib import blake2s

_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")
_HASH = 8
"""Characters of the hash that keeps two shortened names apart."""


def call_id(text: str, longest: int = 64) -> str:
    """An id of a call that every vendor accepts: letters, digits, `_` and `-`. The same id always
    becomes the same, so that a call and its result still belong together."""
    if text and len(text) <= longest and not _ILLEGAL.search(text):
        return text
    return f"call_{blake2s(text.encode(), digest_size=12).hexdigest()}"


def answer_id(prefix: str, text: str) -> str:
    """The id of an answer as a language writes it: with its prefix (`chatcmpl-`, `msg_`)."""
    return text if text.startswith(prefix) else prefix + _ILLEGAL.sub("", text)


class ToolNames:
    """The tools' names of one request, as a vendor with a shorter limit accepts them.

    `originals` are the callers' names by those that were changed; answers are given back with them.
    """

    def __init__(self, longest: int = 64) -> None:
        self.originals: dict[str, str] = {}
        self._longest = longest

    def legal(self, name: str) -> str:
        """The name itself, or its beginning with a hash of all of it."""
        if name and len(name) <= self._longest and not _ILLEGAL.search(name):
            return name
        digest = blake2s(name.encode(), digest_size=_HASH // 2).hexdigest()
        short = f"{_ILLEGAL.sub('_', name)[: self._longest - _HASH - 1]}_{digest}"
        self.originals[short] = name
        return short
