"""The arguments of tool calls: the JSON text of an object."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from engine.translations.neutral.content import ToolCall
from engine.translations.neutral.members import WrongType

_OBJECT = msgspec.json.Decoder(dict[str, Raw])

LARGEST = 4_000_000
"""Characters of arguments that are held for a language that needs them whole."""


def arguments_object(call: ToolCall) -> Raw:
    """The arguments as an object, with their own key order and number text. Raises WrongType."""
    text = call.arguments.strip()
    if not text:
        return Raw(b"{}")
    try:
        _OBJECT.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise WrongType(call.place or f"the arguments of {call.name}", "a JSON object") from error
    return Raw(text.encode())
