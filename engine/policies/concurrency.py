"""`concurrency: {requests: 10}`: open requests at one time; one more gets 429."""

from __future__ import annotations

from typing import Any

from engine.values.quota import AMOUNT, BY, Quota

SCHEMA: dict[str, Any] = {
    "description": "Requests under way at one time.",
    "type": "object",
    "additionalProperties": False,
    "required": ["requests"],
    "properties": {
        "requests": {"description": "How many may be under way.", **AMOUNT},
        "by": BY,
    },
}


def quota(options: Any, currency: str) -> Quota:
    return Quota("concurrency", options["requests"])
