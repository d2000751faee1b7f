"""The items of a conversation: what was said, in order, and what it counts.

A word of text counts one token, 100 ms of sound one, as the vendor counts what it hears, a picture
one, so that a test can tell what a turn's usage must be.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil

from engine.mock.realtime.shapes import Wrong, check
from engine.mock.realtime.version import Event, Version

_MS_PER_TOKEN = 100
_STATUS = frozenset({"completed", "incomplete", "in_progress"})
_COMMON = {"id": str, "object": frozenset({"realtime.item"}), "status": _STATUS}
_MESSAGE = {**_COMMON, "type*": frozenset({"message"})}
_TEXT = {"type*": frozenset({"input_text"}), "text*": str}
_SOUND = {"type*": frozenset({"input_audio"}), "audio*": str, "transcript": (str, None)}
_PICTURE = {
    "type*": frozenset({"input_image"}),
    "image_url*": str,
    "detail": frozenset({"auto", "low", "high"}),
}
_OTHERS = (
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


@dataclass(frozen=True, slots=True)
class Tokens:
    """A count of tokens by what they stand for."""

    text: int = 0
    audio: int = 0
    image: int = 0

    @property
    def total(self) -> int:
        return self.text + self.audio + self.image


@dataclass(frozen=True, slots=True)
class Said:
    """What a reply echoes: words, and the sound they came as (b"" if they were written)."""

    text: str
    sound: bytes = b""


class Items:
    """The items in their order. Raises Wrong for places and items that there are not."""

    def __init__(self) -> None:
        self._items: list[Event] = []

    def __iter__(self) -> Iterator[Event]:
        return iter(self._items)

    def add(self, item: Event, after: str | None = None) -> str | None:
        """Put an item after another, at the end (None) or the start ("root"); the id before it."""
        if any(held["id"] == item["id"] for held in self._items):
            raise Wrong(
                "item_create_duplicate_id", f"There is an item '{item['id']}' already.", "item.id"
            )
        place = len(self._items)
        if after == "root":
            place = 0
        elif after is not None:
            place = 1 + self._place(
                after, "item_create_invalid_previous_item_id", "previous_item_id"
            )
        self._items.insert(place, item)
        return self._items[place - 1]["id"] if place else None

    def get(self, item_id: str, code: str) -> Event:
        """The item of that id. `code` is what the refusal is called if there is none."""
        return self._items[self._place(item_id, code)]

    def delete(self, item_id: str, code: str) -> None:
        del self._items[self._place(item_id, code)]

    def _place(self, item_id: str, code: str, param: str = "item_id") -> int:
        for place, item in enumerate(self._items):
            if item["id"] == item_id:
                return place
        raise Wrong(code, f"There is no item '{item_id}' in this conversation.", param)


def made(item: Event, new_id: str, version: Version, at: str = "item") -> Event:
    """A caller's item as the conversation holds it. Raises Wrong for one that is none."""
    check(item, _shapes(version), at)
    held = {"id": new_id, **item, "object": "realtime.item", "status": "completed"}
    for number, part in enumerate(item.get("content", ())):
        if "audio" in part:
            decoded(part["audio"], f"{at}.content[{number}].audio")
    if "content" in item:
        parts = [{k: v for k, v in part.items() if v is not None} for part in item["content"]]
        held["content"] = parts
    return held


def _shapes(version: Version) -> tuple[Event, ...]:
    answer = (
        {"type*": frozenset({version.text}), "text*": str},
        {"type*": frozenset({version.sound}), "audio": str, "transcript": str},
    )
    return (
        {**_MESSAGE, "role*": frozenset({"system"}), "content*": [_TEXT]},
        {**_MESSAGE, "role*": frozenset({"user"}), "content*": [(_TEXT, _SOUND, _PICTURE)]},
        {**_MESSAGE, "role*": frozenset({"assistant"}), "content*": [answer]},
        *_OTHERS,
    )


def decoded(text: str, at: str) -> bytes:
    """Sound from its base64. Raises Wrong."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Wrong("invalid_value", f"'{at}' is not base64.", at) from error


def shown(item: Event) -> Event:
    """An item as events show it: sound is only in the deltas, and where it is asked for."""
    if "content" not in item:
        return dict(item)
    parts = [{k: v for k, v in part.items() if k != "audio"} for part in item["content"]]
    return {**item, "content": parts}


def count(items: Iterable[Event], instructions: str, bytes_per_ms: int) -> Tokens:
    """The tokens that a model would read."""
    text, audio, image = len(instructions.split()), 0, 0
    for item in items:
        text += len(f"{item.get('arguments', '')} {item.get('output', '')}".split())
        for part in item.get("content", ()):
            text += len(part.get("text", "").split())
            image += part["type"] == "input_image"
            size = len(base64.b64decode(part.get("audio", "")))
            audio += ceil(size / bytes_per_ms / _MS_PER_TOKEN)
    return Tokens(text, audio, image)


def said_last(items: Iterable[Event], bytes_per_ms: int) -> Said:
    """What the user, or a tool, said last."""
    turns = [
        item
        for item in items
        if item.get("role") == "user" or item["type"] == "function_call_output"
    ]
    if not turns:
        return Said("")
    if "output" in turns[-1]:
        return Said(turns[-1]["output"])
    words, sound = [], b""
    for part in turns[-1]["content"]:
        if part["type"] == "input_audio":
            sound += base64.b64decode(part["audio"])
        words.append(heard(part, bytes_per_ms))
    return Said(" ".join(filter(None, words)), sound)


def heard(part: Event, bytes_per_ms: int) -> str:
    """The words of one part of a message: sound says how long it is, if nothing tells its words."""
    if part["type"] != "input_audio":
        return str(part.get("text", ""))
    size = len(base64.b64decode(part["audio"]))
    return str(part.get("transcript") or f"{size // bytes_per_ms} ms of sound")
