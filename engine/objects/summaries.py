"""Summaries of conversations, as callers keep them: the `encrypted_content` of `compaction` items
of the Responses API that this gateway has made.

`mwsummary_` + base64url of the AES-SIV (RFC 5297, by the ring of `objects.key`) of the compressed
text. The owner (see `sealed_ids.py`) is associated data: a summary opens for nobody else.
"""

from __future__ import annotations

import binascii
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

from engine.objects.sealed_ids import Sealer, owner_of
from engine.values.caller import Caller
from engine.values.errors import GatewayError
from engine.values.trees import Json

PREFIX = "mwsummary_"
MARK = f'"{PREFIX}'.encode()
"""A part of every JSON text that has a summary."""

INTRODUCTION = (
    "This conversation was longer. What follows is the summary that was made of all of it up to "
    "here, in place of the turns that are no longer shown:\n\n"
)
"""What a model reads before a summary."""

_PURPOSE = b"modelway summary 1"
_KINDS = ("compaction", "compaction_summary")
_TRIGGER = "compaction_trigger"
_RETAINED = ("user", "developer", "system")


class Summaries:
    """Seals and opens summaries. `owner` is that of the config: token, team or all."""

    def __init__(self, sealer: Sealer, owner: str) -> None:
        self._sealer, self._owner = sealer, owner

    def seal(self, summary: str, caller: Caller | None) -> str:
        """The text that a caller keeps of a summary."""
        data = zlib.compress(summary.encode("utf-8", "replace"))
        return PREFIX + _encode(self._sealer.encrypt(data, self._key(caller), _PURPOSE))

    def open_items(self, items: list[Any], caller: Caller | None) -> list[Any]:
        """The items of a conversation, with a message in place of each summary that this gateway
        has made for the caller. Raises GatewayError 400 for another caller's, and one that no key
        opens."""
        opened: list[Any] = []
        for index, item in enumerate(items):
            text = sealed_text(item)
            if text is None:
                opened.append(item)
                continue
            summary = self._open(text, caller)
            if summary is None:
                raise _not_opened(index)
            if opened and _kind(opened[-1]) == _TRIGGER:  # the conversation that was summarised
                opened = [each for each in opened if _is_retained(each)]
            opened.append(_message(summary))
        return opened

    def _open(self, text: str, caller: Caller | None) -> str | None:
        data = _decode(text.removeprefix(PREFIX))
        plain = self._sealer.decrypt(data, self._key(caller), _PURPOSE)
        return None if plain is None else zlib.decompress(plain).decode()

    def _key(self, caller: Caller | None) -> bytes:
        return owner_of(caller, self._owner)


def sealed_text(item: object) -> str | None:
    """The sealed summary of an item; None for any other item, a vendor's compaction included."""
    if not isinstance(item, dict) or item.get("type") not in _KINDS:
        return None
    text = item.get("encrypted_content")
    return text if isinstance(text, str) and text.startswith(PREFIX) else None


def _kind(item: object) -> object:
    return item.get("type") if isinstance(item, dict) else None


def _is_retained(item: object) -> bool:
    """Whether an item stays beside the summary of its conversation: what the user and the
    application have said, as at the vendor."""
    return isinstance(item, dict) and item.get("role") in _RETAINED


def _message(summary: str) -> Json:
    content = [{"type": "input_text", "text": INTRODUCTION + summary}]
    return {"type": "message", "role": "user", "content": content}


def _not_opened(index: int) -> GatewayError:
    place = f"input[{index}].encrypted_content"
    message = (
        f"'{place}' is not a summary of this gateway for this token, or its key was removed. "
        "Send the conversation itself, or a summary of it as a message."
    )
    return GatewayError(400, "invalid_encrypted_content", message, param=place)


def _encode(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def _decode(text: str) -> bytes:
    """The bytes of a text, b"" unless it is exactly what `_encode` makes of them."""
    try:
        data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return b""
    return data if _encode(data) == text else b""
