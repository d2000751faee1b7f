"""Signatures that are sealed for other vendors, in a request that is relayed as it came.

The vendor refuses thoughts with a signature that it has not made, and citations of searches without
an index of its own. Thoughts on a budget are accepted
in the middle of a round of tool calls only if the turn that called begins with its thoughts.
"""

from __future__ import annotations

from typing import Any

from engine.translations.neutral.signatures import Changes, is_sealed, objects
from engine.values.json_edit import JsonPath

_SIGNATURES = {"thinking": "signature", "redacted_thinking": "data"}


def without_seals(request: Any) -> Changes:
    """The changes that remove the thoughts and citations of other vendors from a request's JSON
    value, and the wish to think where it cannot be granted without them."""
    changes: dict[JsonPath, bytes | None] = {}
    turns = objects(request, "messages")
    for index, message in turns:
        blocks = objects(message, "content")
        seal_places = [at for at, block in blocks if _is_sealed(block)]
        if seal_places and len(seal_places) == len(message["content"]):
            changes["messages", index] = None
        else:
            changes.update({("messages", index, "content", at): None for at in seal_places})
        for at, block in blocks:
            changes.update(_citations(block, ("messages", index, "content", at)))
    if len(turns) > 1 and _calls_without_thoughts(turns[-2], turns[-1], changes):
        thinking = request.get("thinking")
        if isinstance(thinking, dict) and thinking.get("type") == "enabled":
            changes["thinking",] = None
            changes["context_management",] = None  # it may clear thoughts, which needs them on
    return changes


def _citations(block: dict[str, Any], place: JsonPath) -> Changes:
    """The changes that remove citations of other vendors' searches from a block."""
    citations = objects(block, "citations")
    sealed = [at for at, each in citations if is_sealed(each.get("encrypted_index"))]
    if sealed and len(sealed) == len(block["citations"]):
        return {(*place, "citations"): None}
    return {(*place, "citations", at): None for at in sealed}


def _is_sealed(block: dict[str, Any]) -> bool:
    member = _SIGNATURES.get(str(block.get("type")))
    return member is not None and is_sealed(block.get(member))


def _calls_without_thoughts(
    turn: tuple[int, dict[str, Any]], last: tuple[int, dict[str, Any]], changes: Changes
) -> bool:
    """Whether the last turn has the results of calls whose thoughts are removed."""
    index, message = turn
    results = any(block.get("type") == "tool_result" for _, block in objects(last[1], "content"))
    return results and any(
        ("messages", index, "content", at) in changes for at, _ in objects(message, "content")
    )
