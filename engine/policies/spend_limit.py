"""`spend_limit: {amount: 20, per: 30d}`: money per window, at `prices`; then 402."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from engine.values import units
from engine.values.quota import BY, PER, Quota
from engine.values.usage import NANO

SCHEMA: dict[str, Any] = {
    "description": "Money per window, at `prices`.",
    "type": "object",
    "additionalProperties": False,
    "required": ["amount", "per"],
    "properties": {
        "amount": {
            "description": "The amount, in `currency`.",
            "type": "number",
            "minimum": 0.01,
            "maximum": 999_999_999,
        },
        "per": {"description": "The window: 1h, 1d, 30d.", **PER},
        "by": BY,
    },
}


def quota(options: Any, currency: str) -> Quota:
    nanos = int(Decimal(str(options["amount"])) * NANO)
    return Quota("spend", nanos, units.seconds(options["per"]))
