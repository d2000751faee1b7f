"""The optional steps of a request. One file is one policy, found by its place; nothing else names
it. `get` says what its module defines.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from hashlib import sha256
from typing import Any

from engine.config.routes import Policy
from engine.config.transforms import TransformConfig
from engine.exchange.exchange import Stage
from engine.exchange.services import Services
from engine.values.quota import Quota, QuotaRule, window_key


class Moment(StrEnum):
    """When a policy runs, the first moment first."""

    BEFORE_VALIDATION = "before validation"
    AFTER_VALIDATION = "after validation"
    AFTER_SELECTION = "after the selection of the model"
    TRANSFORM = "before the limits"
    LIMIT = "last"


@dataclass(frozen=True, slots=True)
class PolicyStep:
    """A policy that becomes a stage: its name and its options as typed values."""

    name: str
    options: Any

    def stage(self, services: Services) -> Stage:
        """The stage, for the services of one worker."""
        stage: Stage = get(self.name).build(self.options, services)
        return stage


@dataclass(frozen=True, slots=True)
class Guards:
    """The policies of a route, compiled: steps before validation, steps after it, steps after the
    selection of the model, quotas and transforms, each in the order of the config. `reads_body`: a
    step after validation needs the parsed body."""

    early: tuple[PolicyStep, ...] = ()
    checks: tuple[PolicyStep, ...] = ()
    late: tuple[PolicyStep, ...] = ()
    rules: tuple[QuotaRule, ...] = ()
    transforms: tuple[TransformConfig, ...] = ()

    @property
    def reads_body(self) -> bool:
        return any(getattr(step.options, "reads_body", False) for step in self.checks)


@cache
def names() -> list[str]:
    """The names of all policies."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


@cache
def get(name: str) -> Any:
    """The module of that policy, one of `names()`. It defines

    SCHEMA     the JSON Schema of its options, and one of these three:
    quota(options, currency)
               the Quota that it enforces; a new kind needs a row in `values/quota.py: KINDS`
    build(options, services)
               its stage. `read(options)` turns the options into a typed value before that; one
               with `reads_body` gets a parsed body. The value is hashable, and routes with equal
               ones share the stage, which keeps no state. AFTER_VALIDATION = True: it runs after
               validation; NEEDS_MODEL = True: after the selection of the model, which follows
    transform(policy)
               a TransformConfig: edits of requests and responses

    `read` and `quota` raise ValueError for what a schema cannot express.
    """
    return importlib.import_module(f"{__name__}.{name}")


def is_limit(name: str) -> bool:
    """Whether a policy enforces a quota; the others are stages."""
    return hasattr(get(name), "quota")


def quota_of(policy: Policy, currency: str) -> Quota | None:
    """The quota that a policy enforces; None for a stage. Raises ValueError for wrong options, and
    for a kind of quota that does not exist."""
    if not is_limit(policy.name):
        return None
    quota: Quota = get(policy.name).quota(policy.options, currency)
    return quota


def transform_of(policy: Policy) -> tuple[TransformConfig, ...]:
    """The transform of a policy, whose options match the schema; empty for policies that are not
    transforms."""
    module = get(policy.name)
    return (module.transform(policy),) if hasattr(module, "transform") else ()


def moment_of(name: str) -> Moment:
    """When a policy runs; its position in the config does not matter."""
    module = get(name)
    if is_limit(name):
        return Moment.LIMIT
    if hasattr(module, "transform"):
        return Moment.TRANSFORM
    if getattr(module, "AFTER_VALIDATION", False):
        return Moment.AFTER_VALIDATION
    needs_model = getattr(module, "NEEDS_MODEL", False)
    return Moment.AFTER_SELECTION if needs_model else Moment.BEFORE_VALIDATION


def sharer_of(policy: Policy) -> str:
    """Who shares a policy's quota: one of `values.quota.BY`."""
    return str(policy.options.get("by", "token")) if isinstance(policy.options, dict) else "token"


def guards(policies: Sequence[Policy], currency: str) -> Guards:
    """Compile the policies of a route, whose options match the schemas. Raises ValueError for what
    a schema cannot express."""
    steps: dict[Moment, list[PolicyStep]] = {moment: [] for moment in Moment}
    rules: list[QuotaRule] = []
    transforms: list[TransformConfig] = []
    for policy in policies:
        module, quota = get(policy.name), quota_of(policy, currency)
        if quota is not None:
            rules.append(_rule(policy, quota, {rule.name for rule in rules}))
            continue
        if hasattr(module, "transform"):
            transforms += transform_of(policy)
            continue
        options = module.read(policy.options) if hasattr(module, "read") else policy.options
        steps[moment_of(policy.name)].append(PolicyStep(policy.name, options))
    return Guards(
        early=tuple(steps[Moment.BEFORE_VALIDATION]),
        checks=tuple(steps[Moment.AFTER_VALIDATION]),
        late=tuple(steps[Moment.AFTER_SELECTION]),
        rules=tuple(rules),
        transforms=tuple(transforms),
    )


def _rule(policy: Policy, quota: Quota, names_in_use: set[str]) -> QuotaRule:
    """A quota under a name that does not depend on its position, so that its count survives a
    reload of the config. Policies for other operations are counted separately."""
    by = sharer_of(policy)
    group = sha256(policy.group.encode()).hexdigest()[:12] if policy.group else ""
    name = f"{policy.name}/{by}/{window_key(quota.window)}/{group}"
    while name in names_in_use:
        name += "+"
    return QuotaRule(quota, by, name)


def schema() -> dict[str, Any]:
    """The JSON Schema of one entry under `policies`: a policy's name with its options."""
    return {
        "description": "One policy: its name, and its options.",
        "type": "object",
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
        "properties": {name: get(name).SCHEMA for name in names()},
    }
