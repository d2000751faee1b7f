"""`concurrency: {requests: 10}`: open requests at one time; one more gets 429."""

from __future__ import annotations

from typing import Any

from engine.values.quota import AMOUNT, BY, Quota

SCHEMA: dict[str, Any] = {
    "description": "Requests at the same time.",
    "type": "object",
    "additionalProperties": False,
    "required": ["requests"],
    "properties": {
        "requests": {"description": "The number of requests.", **AMOUNT},
        "by": BY,
    },
}


def quota(options: Any, currency: str) -> Quota:
    return Quota("concurrency", options["requests"])
