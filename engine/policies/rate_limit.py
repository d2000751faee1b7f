"""`rate_limit: {requests: 600, per: 1m}`: requests per window; one more gets 429.

What such a quota counts, and its refusal, is the row `requests` of KINDS in `values/quota.py`.
"""

from __future__ import annotations

from typing import Any

from engine.config.json_schema import Schema
from engine.policies.interface import LimitPolicy
from engine.values.quota import AMOUNT, Quota, policy_quota
from engine.values.quota_sharers import SHARING_KEYS
from engine.values.quota_window import WINDOW_KEYS

_SCHEMA: Schema = {
    "description": "Requests per window.",
    "type": "object",
    "additionalProperties": False,
    "required": ["requests", "per"],
    "properties": {
        "requests": {"description": "The number of requests.", **AMOUNT},
        **WINDOW_KEYS,
        **SHARING_KEYS,
    },
}


def _quota(options: Any, currency: str) -> Quota:
    return policy_quota("requests", options["requests"], options)


POLICY = LimitPolicy(schema=_SCHEMA, quota=_quota)
