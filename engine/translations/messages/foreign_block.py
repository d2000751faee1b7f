"""A block that other languages do not know, put together from its beginning and its deltas."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from engine.translations.messages.answer_fields import NAME
from engine.translations.neutral.arguments import LARGEST
from engine.translations.neutral.content import Foreign
from engine.translations.neutral.events import BrokenAnswer
from engine.translations.neutral.members import OBJECT


class ForeignBlock:
    """The block of a stream that begins with `raw`."""

    def __init__(self, kind: str, raw: Raw, *, omissible: bool = False) -> None:
        self._kind, self._raw = kind, raw
        self._omissible = omissible
        self._texts: dict[str, list[str]] = {}
        self._size = 0

    def add(self, delta: Raw) -> None:
        """Take a delta: its texts go on those of the block. `partial_json` is the `input`."""
        self._size += len(bytes(delta))
        if self._size > LARGEST:
            raise BrokenAnswer(f"the upstream's answer has a {self._kind} that is too large")
        for name, raw in OBJECT.decode(delta).items():
            if name != "type" and bytes(raw)[:1] == b'"':
                text = msgspec.json.decode(raw, type=str)
                self._texts.setdefault(name, []).append(text)

    def block(self) -> Foreign:
        """The whole block."""
        raw = self._raw
        if self._texts:
            members = OBJECT.decode(raw)
            for name, texts in self._texts.items():
                text = "".join(texts)
                if name != "partial_json":
                    members[name] = Raw(msgspec.json.encode(text))
                elif _is_object(text):  # it is not if it was cut off
                    members["input"] = Raw(text.encode())
            raw = Raw(msgspec.json.encode(members))
        return Foreign(language=NAME, kind=self._kind, raw=raw, omissible=self._omissible)


def _is_object(text: str) -> bool:
    try:
        OBJECT.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True
