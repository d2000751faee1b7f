"""Removes the signatures that are sealed for other vendors from a request."""

from __future__ import annotations

import json

from engine.translations.neutral.language import Language
from engine.values.json_edit import edits


def without_seals(language: Language, request: str) -> str:
    """The text of a request without sealed signatures."""
    text, result, position = request.encode(), b"", 0
    for start, end, new in edits(text, language.without_seals(json.loads(request))):
        result += text[position:start] + new
        position = end
    return (result + text[position:]).decode()
