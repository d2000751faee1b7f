"""Signatures that are sealed for other vendors, in a request that is relayed as it came."""

from __future__ import annotations

from typing import Any

from engine.translations.neutral.signatures import Changes, is_sealed, objects
from engine.values.json_edit import JsonPath

_DETAILS = "reasoning_details"
_FIELDS = "provider_specific_fields"
"""Where LiteLLM's SDK sends back what it does not know."""


def without_seals(request: Any) -> Changes:
    """The changes that remove the thoughts of other vendors from a request's JSON value."""
    changes: dict[JsonPath, bytes | None] = {}
    for index, message in objects(request, "messages"):
        place: JsonPath = ("messages", index)
        changes.update(_changes(message, place))
        fields = message.get(_FIELDS)
        changes.update(_changes(fields, (*place, _FIELDS)))
    return changes


def _changes(holder: Any, place: JsonPath) -> Changes:
    """The changes of an object at `place` that may have `reasoning_details`."""
    details = objects(holder, _DETAILS)
    seal_places = [
        at
        for at, detail in details
        if is_sealed(detail.get("signature")) or is_sealed(detail.get("data"))
    ]
    if seal_places and len(seal_places) == len(holder[_DETAILS]):
        return {(*place, _DETAILS): None}
    return {(*place, _DETAILS, at): None for at in seal_places}
