"""Names of tools and ids of calls, converted for the limits of other vendors."""

from __future__ import annotations

import re
from hashlib import blake2s

_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")
_LEGAL = re.compile(r"[a-zA-Z0-9_-]+")
_LEGAL_FROM_LETTER = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]*")
_FIRST = re.compile(r".", re.DOTALL)
_FIRST_LETTER = re.compile(r"[a-zA-Z_]")
_HASH = 8
"""The length of the hash that makes shortened names unique."""


def call_id(text: str, longest: int = 64) -> str:
    """An id of a call that every vendor accepts: letters, digits, `_` and `-`. Deterministic, so
    that a call and its result keep the same id."""
    if text and len(text) <= longest and not _ILLEGAL.search(text):
        return text
    return f"call_{blake2s(text.encode(), digest_size=12).hexdigest()}"


def name_of_answer(vendor_id: str | None, beginning: bytes) -> str:
    """A text that no other answer has: the vendor's id, or a hash of the JSON that it begins with,
    which has its time or its counts. Calls without ids need some that no other turn has."""
    return vendor_id or blake2s(beginning, digest_size=8).hexdigest()


def answer_id(prefix: str, text: str) -> str:
    """The id of an answer as a language writes it: with its prefix (`chatcmpl-`, `msg_`)."""
    return text if text.startswith(prefix) else prefix + _ILLEGAL.sub("", text)


class ToolNames:
    """The tool names of one request, converted for a vendor with a shorter limit.

    `originals` are the callers' names by the changed ones, to restore them in answers.
    `first_letter`: the vendor requires a letter or `_` at the beginning.
    """

    def __init__(self, longest: int = 64, *, first_letter: bool = False) -> None:
        self.originals: dict[str, str] = {}
        self._longest = longest
        self._first = _FIRST_LETTER if first_letter else _FIRST
        self._legal = _LEGAL_FROM_LETTER if first_letter else _LEGAL

    def legal(self, name: str) -> str:
        """The name itself if the vendor accepts it, else its beginning and a hash of all of it."""
        if len(name) <= self._longest and self._legal.fullmatch(name):
            return name
        is_begun = self._first.match(name) is not None
        digest = blake2s(name.encode(), digest_size=_HASH // 2).hexdigest()
        legal = _ILLEGAL.sub("_", name if is_begun else f"_{name}")
        short = f"{legal[: self._longest - _HASH - 1]}_{digest}"
        self.originals[short] = name
        return short
