"""`concurrency: {requests: 10}`: open requests at one time; one more gets 429."""

from __future__ import annotations

from typing import Any

from engine.config.json_schema import Schema
from engine.policies.interface import LimitPolicy
from engine.values.quota import AMOUNT, Quota
from engine.values.quota_sharers import SHARING_KEYS

_SCHEMA: Schema = {
    "description": "Requests at the same time.",
    "type": "object",
    "additionalProperties": False,
    "required": ["requests"],
    "properties": {
        "requests": {"description": "The number of requests.", **AMOUNT},
        **SHARING_KEYS,
    },
}


def _quota(options: Any, currency: str) -> Quota:
    return Quota("concurrency", options["requests"])


POLICY = LimitPolicy(schema=_SCHEMA, quota=_quota)
