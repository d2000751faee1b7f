"""`transform: {request: {...}}`: edits of the requests on these routes and of their responses.

The keys are those of `transform` in gateway.yaml; `engine/transforms` compiles and applies them. A
route's transforms follow those of the file.
"""

from __future__ import annotations

from typing import Any

from engine.config.json_schema import schema
from engine.config.routes import Policy
from engine.config.transforms import TransformConfig

SCHEMA: dict[str, Any] = schema()["$defs"]["transform"]


def transform(policy: Policy) -> TransformConfig:
    """The transform of a policy, with its place."""
    return TransformConfig(policy.options, policy.at)
