"""`token_budget: {tokens: 1000000, per: 1d}`: model tokens, input and output, per window.

An estimate is taken before a request is sent, and corrected to the usage that the upstream reports.
"""

from __future__ import annotations

from typing import Any

from engine.config.json_schema import Schema
from engine.policies.interface import LimitPolicy
from engine.values.quota import AMOUNT, Quota, policy_quota
from engine.values.quota_sharers import SHARING_KEYS
from engine.values.quota_window import WINDOW_KEYS

_SCHEMA: Schema = {
    "description": "Model tokens, in and out, per window.",
    "type": "object",
    "additionalProperties": False,
    "required": ["tokens", "per"],
    "properties": {
        "tokens": {"description": "The number of tokens.", **AMOUNT},
        **WINDOW_KEYS,
        **SHARING_KEYS,
    },
}


def _quota(options: Any, currency: str) -> Quota:
    return policy_quota("tokens", options["tokens"], options)


POLICY = LimitPolicy(schema=_SCHEMA, quota=_quota)
