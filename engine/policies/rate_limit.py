"""`rate_limit: {requests: 600, per: 1m}`: requests per window; one more gets 429."""

from __future__ import annotations

from typing import Any

from engine.values import units
from engine.values.quota import AMOUNT, BY, PER, Quota

SCHEMA: dict[str, Any] = {
    "description": "Requests per window.",
    "type": "object",
    "additionalProperties": False,
    "required": ["requests", "per"],
    "properties": {
        "requests": {"description": "The number of requests.", **AMOUNT},
        "per": {"description": "The window: 1s, 1m, 1h.", **PER},
        "by": BY,
    },
}


def quota(options: Any, currency: str) -> Quota:
    return Quota("requests", options["requests"], units.seconds(options["per"]))
