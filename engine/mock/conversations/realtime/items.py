"""The items of a conversation in order, and their tokens.

A word of text, 100 ms of input audio (as the vendor counts) and an image are one token each, so
that a test can predict the usage of a turn.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator
from math import ceil

from msgspec import Struct

from engine.mock.conversations.realtime.client_events import Event, EventShape, Invalid

_MS_PER_TOKEN = 100
_STATUS = frozenset({"completed", "incomplete", "in_progress"})
_COMMON = {"id": str, "object": frozenset({"realtime.item"}), "status": _STATUS}
_MESSAGE = {**_COMMON, "type*": frozenset({"message"})}
_TEXT = {"type*": frozenset({"input_text"}), "text*": str}
_AUDIO = {"type*": frozenset({"input_audio"}), "audio*": str, "transcript": (str, None)}
_IMAGE = {
    "type*": frozenset({"input_image"}),
    "image_url*": str,
    "detail": frozenset({"auto", "low", "high"}),
}
_ANSWER = (
    {"type*": frozenset({"output_text"}), "text*": str},
    {"type*": frozenset({"output_audio"}), "audio": str, "transcript": str},
)
_ITEM = EventShape(
    (
        {**_MESSAGE, "role*": frozenset({"system"}), "content*": [_TEXT]},
        {**_MESSAGE, "role*": frozenset({"user"}), "content*": [(_TEXT, _AUDIO, _IMAGE)]},
        {**_MESSAGE, "role*": frozenset({"assistant"}), "content*": [_ANSWER]},
        {
            **_COMMON,
            "type*": frozenset({"function_call"}),
            "call_id": str,
            "name*": str,
            "arguments*": str,
        },
        {
            **_COMMON,
            "type*": frozenset({"function_call_output"}),
            "call_id*": str,
            "output*": str,
        },
    )
)


class Tokens(Struct, frozen=True):
    """A number of tokens by modality."""

    text: int = 0
    audio: int = 0
    image: int = 0

    @property
    def total(self) -> int:
        return self.text + self.audio + self.image


class Turn(Struct, frozen=True):
    """The turn that a response echoes: its text, and its audio (b"" for a turn in text)."""

    text: str
    audio: bytes = b""


class Items:
    """The items in order. Raises Invalid for an unknown item."""

    def __init__(self) -> None:
        self._items: list[Event] = []

    def __iter__(self) -> Iterator[Event]:
        return iter(self._items)

    def add(self, item: Event, after: str | None = None) -> str | None:
        """Insert an item after another, at the end (None) or the start ("root"); return the
        id of the item before it."""
        if any(other["id"] == item["id"] for other in self._items):
            raise Invalid("item_create_duplicate_id", f"The item '{item['id']}' exists.", "item.id")
        index = len(self._items)
        if after == "root":
            index = 0
        elif after is not None:
            index = 1 + self._index(
                after, "item_create_invalid_previous_item_id", "previous_item_id"
            )
        self._items.insert(index, item)
        return self._items[index - 1]["id"] if index else None

    def get(self, item_id: str, code: str) -> Event:
        """The item of that id. `code` is the error code if there is none."""
        return self._items[self._index(item_id, code)]

    def delete(self, item_id: str, code: str) -> None:
        del self._items[self._index(item_id, code)]

    def _index(self, item_id: str, code: str, param: str = "item_id") -> int:
        for index, item in enumerate(self._items):
            if item["id"] == item_id:
                return index
        raise Invalid(code, f"There is no item '{item_id}' in this conversation.", param)


def new_item(item: Event, new_id: str, at: str = "item") -> Event:
    """The caller's item, validated, with an id and its status. Raises Invalid."""
    _ITEM.check(item, at)
    new = {"id": new_id, **item, "object": "realtime.item", "status": "completed"}
    for number, part in enumerate(item.get("content", ())):
        if "audio" in part:
            decode_audio(part["audio"], f"{at}.content[{number}].audio")
    if "content" in item:
        parts = [{k: v for k, v in part.items() if v is not None} for part in item["content"]]
        new["content"] = parts
    return new


def decode_audio(text: str, at: str) -> bytes:
    """Audio from its base64. Raises Invalid."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Invalid("invalid_value", f"'{at}' is not base64.", at) from error


def without_audio(item: Event) -> Event:
    """An item without its audio, which is sent only in deltas and retrieved items."""
    if "content" not in item:
        return dict(item)
    parts = [{k: v for k, v in part.items() if k != "audio"} for part in item["content"]]
    return {**item, "content": parts}


def count(items: Iterable[Event], instructions: str, bytes_per_ms: int) -> Tokens:
    """The input tokens of items and instructions."""
    text, audio, image = len(instructions.split()), 0, 0
    for item in items:
        text += len(f"{item.get('arguments', '')} {item.get('output', '')}".split())
        for part in item.get("content", ()):
            text += len(part.get("text", "").split())
            image += part["type"] == "input_image"
            size = len(base64.b64decode(part.get("audio", "")))
            audio += ceil(size / bytes_per_ms / _MS_PER_TOKEN)
    return Tokens(text, audio, image)


def last_turn(items: Iterable[Event], bytes_per_ms: int) -> Turn:
    """The last turn of the user or a tool."""
    turns = [
        item
        for item in items
        if item.get("role") == "user" or item["type"] == "function_call_output"
    ]
    if not turns:
        return Turn("")
    if "output" in turns[-1]:
        return Turn(turns[-1]["output"])
    words, audio = [], b""
    for part in turns[-1]["content"]:
        if part["type"] == "input_audio":
            audio += base64.b64decode(part["audio"])
        words.append(transcript(part, bytes_per_ms))
    return Turn(" ".join(filter(None, words)), audio)


def transcript(part: Event, bytes_per_ms: int) -> str:
    """The text of one part of a message; for audio without a transcript, its duration."""
    if part["type"] != "input_audio":
        return str(part.get("text", ""))
    size = len(base64.b64decode(part["audio"]))
    return str(part.get("transcript") or f"{size // bytes_per_ms} ms of audio")
