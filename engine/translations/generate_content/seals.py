"""Signatures that are sealed for other vendors, in a request that is relayed as it came.

Newer models refuse a call of a tool without a signature, except for the value that stands for one.
"""

from __future__ import annotations

from typing import Any

import msgspec

from engine.translations.generate_content.fields import SEAL_BASE64, UNSIGNED
from engine.translations.neutral.signatures import Changes, objects
from engine.values.json_edit import JsonPath

_NAMES = ("thoughtSignature", "thought_signature")
_CALLS = ("functionCall", "function_call")
_UNSIGNED_JSON = msgspec.json.encode(UNSIGNED)


def without_seals(request: Any) -> Changes:
    """The changes that remove the thoughts of other vendors from a request's JSON value."""
    changes: dict[JsonPath, bytes | None] = {}
    for index, content in objects(request, "contents"):
        parts = _part_changes(content, ("contents", index, "parts"))
        removals = sum(len(path) == 4 for path in parts)
        if removals and removals == len(content["parts"]):
            changes["contents", index] = None
        else:
            changes.update(parts)
    return changes


def _part_changes(content: dict[str, Any], place: JsonPath) -> dict[JsonPath, bytes | None]:
    """The changes of one turn: a part that only carries thoughts is removed."""
    changes: dict[JsonPath, bytes | None] = {}
    for at, part in objects(content, "parts"):
        name = next((name for name in _NAMES if str(part.get(name)).startswith(SEAL_BASE64)), None)
        if name is None:
            continue
        if part.get("thought") or part.get("text") == "":
            changes[*place, at] = None
        else:
            calls = any(call in part for call in _CALLS)
            changes[*place, at, name] = _UNSIGNED_JSON if calls else None
    return changes
