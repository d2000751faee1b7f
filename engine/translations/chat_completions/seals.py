"""Signatures that are sealed for other vendors, in a request that is relayed as it came."""

from __future__ import annotations

from typing import Any

from engine.translations.neutral.signatures import Changes, is_sealed, objects
from engine.values.json_edit import JsonPath


def without_seals(request: Any) -> Changes:
    """The changes that remove the thoughts of other vendors from a request's JSON value."""
    changes: dict[JsonPath, bytes | None] = {}
    for index, message in objects(request, "messages"):
        details = objects(message, "reasoning_details")
        seal_places = [
            at
            for at, detail in details
            if is_sealed(detail.get("signature")) or is_sealed(detail.get("data"))
        ]
        place = ("messages", index, "reasoning_details")
        if seal_places and len(seal_places) == len(message["reasoning_details"]):
            changes[place] = None
        else:
            changes.update({(*place, at): None for at in seal_places})
    return changes
