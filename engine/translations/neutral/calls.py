"""Names, ids and arguments of tool calls, as other vendors accept them. Arguments are the JSON text
of an object."""

from __future__ import annotations

import re
from hashlib import blake2s
from typing import Any

import msgspec
from msgspec import Raw

from engine.translations.neutral.content import ToolCall
from engine.translations.neutral.members import OBJECT, WrongType, decode
from engine.translations.neutral.request import Tool

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


_NOTHING = (b"", b"null", b"{}", b"[]")

LARGEST = 4_000_000
"""The largest sum of characters of all arguments in an answer; they are buffered until each call is
complete."""


def are_object(text: str) -> bool:
    """Whether a text can be the arguments of a call: a JSON object, or nothing."""
    try:
        OBJECT.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return not text.strip()
    return True


def arguments_of(raw: Raw) -> str:
    """The arguments in the JSON of an answer, where an object belongs: some servers write its text
    as a string. Empty for none."""
    text = bytes(raw)
    if text[:1] == b'"':
        return msgspec.json.decode(text, type=str)
    return "" if text in _NOTHING else text.decode()


def arguments_object(call: ToolCall) -> Raw:
    """The arguments as an object, with their own key order and number text. Raises WrongType."""
    if not are_object(call.arguments):
        raise WrongType(call.place or f"the arguments of {call.name}", "a JSON object")
    return Raw(call.arguments.strip().encode() or b"{}")


NO_ARGUMENTS = {"type": "object", "properties": {}}
"""The schema of the arguments of a tool that has none."""


def arguments_schema(tool: Tool) -> Any:
    """The schema of a tool's arguments, for vendors that require its `type`. Raises WrongType."""
    if tool.schema is None:
        return NO_ARGUMENTS
    members = decode(OBJECT, tool.schema, tool.place, "a tool whose schema is an object")
    return tool.schema if "type" in members else {"type": "object", **members}
