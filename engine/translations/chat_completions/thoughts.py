"""Thoughts of messages, with the signatures that vendors want back: `reasoning_details`, the member
that OpenRouter has added, and `extra_content`, which Gemini's OpenAI-compatible endpoint has added
to tool calls and messages: `{"google": {"thought_signature": "..."}}`.

The vendor gets the whole member back. In the neutral form `extra_content` is the signature of
thoughts without text, in front of what it signs.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Raw

from engine.translations.chat_completions.answer_fields import NAME, REASONING_MEMBERS
from engine.translations.neutral import content as neutral
from engine.translations.neutral.json_members import Members, value_of
from engine.values.trees import Json

_OBJECT = msgspec.json.Decoder(Json)


class Detail:
    """An entry of `reasoning_details`, in a stream in fragments. Its vendor wants all of it back
    with the next turn, so everything but its text is its signature."""

    def __init__(self) -> None:
        self._members: dict[str, Raw] = {}

    def add(self, fragment: Members) -> tuple[str, int]:
        """Take a fragment. Returns its text, and how many characters of the entry are new."""
        text = fragment.text("text") or fragment.text("summary") or ""
        size = 0
        for name, raw in fragment.copy().items():
            if self._members.get(name) != raw:
                self._members[name] = raw
                size += len(name) + len(bytes(raw))
        return text, size

    @property
    def signature(self) -> neutral.Signature:
        return neutral.Signature(NAME, msgspec.json.encode(self._members).decode())


def read_detail(detail: Members) -> neutral.Reasoning:
    """Thoughts that a caller sends back: signed by this language, or another (sealed)."""
    text = detail.text("text") or detail.text("summary") or ""
    signature = detail.text("signature") if detail.is_text("signature") else None
    return neutral.Reasoning(
        text=text, signature=neutral.unseal(signature or "", NAME), place=detail.place
    )


def write_detail(index: int, text: str, signature: neutral.Signature | None) -> Json:
    entry: Json = {"type": "reasoning.text", "index": index, "text": text}
    if signature is not None:
        entry["signature"] = neutral.seal(signature, NAME)
    return entry


def write_thoughts(blocks: list[neutral.Reasoning]) -> tuple[Json, list[neutral.Reasoning]]:
    """The members of a message that has these thoughts, each in the member that it came in; and the
    thoughts that have none, since they came from another vendor."""
    texts: dict[str, list[str]] = {}
    entries: list[Json] = []
    foreign_thoughts: list[neutral.Reasoning] = []
    for block in blocks:
        name = "" if block.signature is None else block.signature.value
        if block.signature is None or block.signature.language != NAME:
            foreign_thoughts.append(block)
        elif name in REASONING_MEMBERS:
            texts.setdefault(name, []).append(block.text)
        elif (entry := _entry(name, block.text)) is not None:
            entries.append(entry)
        else:
            foreign_thoughts.append(block)
    members: Json = {name: "".join(pieces) for name, pieces in texts.items()}
    if entries:
        members["reasoning_details"] = entries
    return members, foreign_thoughts


def _entry(signature: str, text: str) -> Json | None:
    """The entry of `reasoning_details` with this signature; None for one that is not such an entry,
    which callers can make up."""
    entry = value_of(_OBJECT, signature)
    if entry is not None and text:
        entry["summary" if entry.get("type") == "reasoning.summary" else "text"] = text
    return entry


_GEMINI = "generate_content"
_SIGNED = "thought_signature"
_CALL, _LAST_CALL, _MESSAGE = "call", "last_call", "message"
"""What is signed; it begins the value of the signature."""

_BASE64 = re.compile(r"[\w+/=-]+", re.ASCII)


def read_extra(extra: Raw, *, message: bool = False, late: bool = False) -> str:
    """The value of a signature, "" for none. `late`: the call has begun before."""
    if not _signatures(extra):
        return ""
    signed = _MESSAGE if message else _LAST_CALL if late else _CALL
    return f"{signed} {bytes(extra).decode()}"


def read_request_extra(extra: Raw, place: str) -> neutral.Reasoning | None:
    """The signature in the member at `place` that a caller sends back; None without one."""
    signatures = _signatures(extra)
    if not signatures:
        return None
    return neutral.Reasoning(signature=neutral.Signature(_GEMINI, signatures[0]), place=place)


def _signatures(extra: Raw) -> list[str]:
    """The vendors' signatures. An odd value has none, and costs nobody an answer."""
    vendors = value_of(_OBJECT, extra) or {}
    signatures = [each.get(_SIGNED) for each in vendors.values() if isinstance(each, dict)]
    return [each for each in signatures if isinstance(each, str) and each]


class ExtraWriter:
    """`gemini`: the target also accepts the signatures of Gemini's own API."""

    def __init__(self, *, gemini: bool) -> None:
        self._gemini = gemini
        self._next: object = None

    def take(self, block: neutral.Reasoning, calls: list[object], message: Json) -> bool:
        """Take thoughts without text in their order, of which `calls` were before; add a signature
        of all to the members of the message. Returns whether they are such a signature."""
        signed, extra = self._read(block)
        if signed == _MESSAGE:
            message["extra_content"] = extra
        elif signed == _LAST_CALL and calls and isinstance(calls[-1], dict):
            calls[-1]["extra_content"] = extra
        elif signed:
            self._next = extra
        return bool(signed)

    def sign(self, written: Json) -> Json:
        """A call, or the members of the message, with the signature in front of it."""
        if self._next is not None:
            written.setdefault("extra_content", self._next)
            self._next = None
        return written

    def _read(self, block: neutral.Reasoning) -> tuple[str, Any]:
        if (signature := block.signature) is None:
            return "", None
        if signature.language == NAME:
            signed, _, text = signature.value.partition(" ")
            extra = Raw(text.encode())
            is_signed = signed in (_CALL, _LAST_CALL, _MESSAGE) and _signatures(extra)
            return (signed, extra) if is_signed else ("", None)
        if signature.language == _GEMINI and self._gemini and _BASE64.fullmatch(signature.value):
            return _CALL, {"google": {_SIGNED: signature.value}}
        return "", None
