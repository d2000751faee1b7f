"""`spend_limit: {amount: 20, per: month}`: money per window, at `prices`; then 402."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from engine.config.json_schema import Schema
from engine.policies.interface import LimitPolicy
from engine.values.quota import Quota, policy_quota
from engine.values.quota_sharers import SHARING_KEYS
from engine.values.quota_window import WINDOW_KEYS
from engine.values.usage import NANO

_SCHEMA: Schema = {
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
        **WINDOW_KEYS,
        **SHARING_KEYS,
    },
}


def _quota(options: Any, currency: str) -> Quota:
    nanos = int(Decimal(str(options["amount"])) * NANO)
    return policy_quota("spend", nanos, options)


POLICY = LimitPolicy(schema=_SCHEMA, quota=_quota)
