"""`transform: {request: {...}}`: edits of the requests on these routes and of their responses.

The keys are those of `transform` in gateway.yaml; `engine/transforms` compiles and applies them. A
route's transforms follow those of the file.
"""

from __future__ import annotations

from engine.config.json_schema import Schema, builtin_schema
from engine.config.routes import Policy
from engine.config.transforms import TransformConfig
from engine.policies.interface import TransformPolicy

_SCHEMA: Schema = builtin_schema()["$defs"]["transform"]


def _transform(policy: Policy) -> TransformConfig:
    """The transform of a policy, with its place."""
    return TransformConfig(policy.options, policy.at)


POLICY = TransformPolicy(schema=_SCHEMA, transform=_transform)
