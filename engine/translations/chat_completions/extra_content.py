"""Signatures in `extra_content`, which Gemini's OpenAI-compatible endpoint has added to tool calls
and messages: `{"google": {"thought_signature": "..."}}`.

The vendor gets the whole member back. In the neutral form it is the signature of thoughts without
text, in front of what it signs.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Raw

from engine.translations.chat_completions.answer_fields import NAME
from engine.translations.neutral.content import Json, Reasoning, Signature
from engine.translations.neutral.members import value_of

_GEMINI = "generate_content"
"""The language of Gemini's own API, which has the same signatures."""

_SIGNED = "thought_signature"
_CALL, _LAST_CALL, _MESSAGE = "call", "last_call", "message"
"""What is signed; it begins the value of the signature."""

_BASE64 = re.compile(r"[\w+/=-]+", re.ASCII)
_VENDORS = msgspec.json.Decoder(dict[str, Any])


def read_extra(extra: Raw, *, message: bool = False, late: bool = False) -> str:
    """The value of the signature of a call or a message; "" for none. `late`: the call has begun
    before."""
    if not _signatures(extra):
        return ""
    signed = _MESSAGE if message else _LAST_CALL if late else _CALL
    return f"{signed} {bytes(extra).decode()}"


def read_request_extra(extra: Raw, place: str) -> Reasoning | None:
    """The signature in the member at `place` that a caller sends back; None without one."""
    signatures = _signatures(extra)
    if not signatures:
        return None
    return Reasoning(signature=Signature(_GEMINI, signatures[0]), place=place)


def _signatures(extra: Raw) -> list[str]:
    """The vendors' signatures. An odd value has none, and costs nobody an answer."""
    vendors = value_of(_VENDORS, extra) or {}
    signatures = [each.get(_SIGNED) for each in vendors.values() if isinstance(each, dict)]
    return [each for each in signatures if isinstance(each, str) and each]


class ExtraWriter:
    """Writes the signatures of one message. `gemini`: the target also accepts those of Gemini's own
    API."""

    def __init__(self, *, gemini: bool) -> None:
        self._gemini = gemini
        self._next: Any = None

    def take(self, block: Reasoning, calls: list[Any], message: Json) -> bool:
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

    def _read(self, block: Reasoning) -> tuple[str, Any]:
        signature = block.signature
        if signature is None:
            return "", None
        if signature.language == NAME:
            signed, _, text = signature.value.partition(" ")
            extra = Raw(text.encode())
            is_signed = signed in (_CALL, _LAST_CALL, _MESSAGE) and _signatures(extra)
            return (signed, extra) if is_signed else ("", None)
        if signature.language == _GEMINI and self._gemini and _BASE64.fullmatch(signature.value):
            return _CALL, {"google": {_SIGNED: signature.value}}
        return "", None
