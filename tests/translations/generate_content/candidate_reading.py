"""Blocks of candidates as they are read."""

from __future__ import annotations

from typing import Any

from engine.translations.generate_content.part_fields import write_signature
from engine.translations.neutral.content import (
    Citation,
    Signature,
    Text,
    ToolCall,
)
from tests.translations.generate_content.documents import (
    Json,
    blocks_of,
)

SEAL = Signature("messages", "sig")


SEALED = write_signature(SEAL)


def calls_of(*documents: Json) -> list[ToolCall]:
    return [block for block in blocks_of(*documents) if isinstance(block, ToolCall)]


def citations_of(*documents: Json) -> list[Citation]:
    return [each for b in blocks_of(*documents) if isinstance(b, Text) for each in b.citations]


CHUNKS = [
    {"web": {"uri": "https://a.test", "title": "A"}},
    {"web": {"title": "without an address"}},
    {"retrievedContext": {"uri": "https://b.test", "title": "B", "text": "source"}},
]


def grounding(*supports: Json) -> Json:
    return {"groundingChunks": CHUNKS, "groundingSupports": list(supports)}


def support(*indices: int, **segment: Any) -> Json:
    return {"segment": segment, "groundingChunkIndices": list(indices)}
