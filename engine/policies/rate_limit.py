"""`rate_limit: {requests: 600, per: 1m}`: requests per window; one more gets 429."""

from __future__ import annotations

from typing import Any

from engine.values.quota import AMOUNT, BY, WINDOW_KEYS, Quota, window_of

SCHEMA: dict[str, Any] = {
    "description": "Requests per window.",
    "type": "object",
    "additionalProperties": False,
    "required": ["requests", "per"],
    "properties": {
        "requests": {"description": "The number of requests.", **AMOUNT},
        **WINDOW_KEYS,
        "by": BY,
    },
}


def quota(options: Any, currency: str) -> Quota:
    return Quota("requests", options["requests"], window_of(options))
