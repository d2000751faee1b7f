"""Signatures that are sealed for other vendors, in a request that is relayed as it came."""

from __future__ import annotations

from typing import Any

from engine.translations.neutral.signatures import Changes, is_sealed, objects


def without_seals(request: Any) -> Changes:
    """The changes that remove the thoughts of other vendors from a request's JSON value."""
    return {
        ("input", index): None
        for index, item in objects(request, "input")
        if is_sealed(item.get("encrypted_content"))
    }
