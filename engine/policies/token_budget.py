"""`token_budget: {tokens: 1000000, per: 1d}`: model tokens, in and out, in any such time.

An estimate is reserved before a request is sent and corrected to what the upstream counted.
"""

from __future__ import annotations

from typing import Any

from engine.values import units
from engine.values.quota import AMOUNT, BY, PER, Quota

SCHEMA: dict[str, Any] = {
    "description": "Model tokens, in and out, in any such time.",
    "type": "object",
    "additionalProperties": False,
    "required": ["tokens", "per"],
    "properties": {
        "tokens": {"description": "How many may be used.", **AMOUNT},
        "per": {"description": "In what time: 1h, 1d, 30d.", **PER},
        "by": BY,
    },
}


def quota(options: Any, currency: str) -> Quota:
    return Quota("tokens", options["tokens"], units.seconds(options["per"]))
