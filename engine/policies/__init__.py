"""The optional steps of a request. One file is one policy, found by its place; nothing else names
it. `get` says what its module defines.

A policy runs as soon as what it judges is known (`Moment`). Those that judge what a transform may
edit run in the order of the config, with the transforms.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from hashlib import sha256
from typing import Any

from engine.config.routes import Policy
from engine.config.transforms import TransformConfig
from engine.exchange.exchange import Stage
from engine.exchange.services import Services
from engine.spec.member_spellings import Spellings
from engine.values.quota import Quota, QuotaRule, depends_on_model, window_key


class Moment(StrEnum):
    """When a policy runs, the first moment first."""

    HEAD = "before the body"
    MODEL = "before validation"
    WRITTEN = "as written"
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
    """The policies of a route, compiled: `early` are the steps before the body is received,
    `models` those after the selection of the model, `written` the steps and transforms after
    validation, `rules` the quotas; each in the order of the config."""

    early: tuple[PolicyStep, ...] = ()
    models: tuple[PolicyStep, ...] = ()
    written: tuple[PolicyStep | TransformConfig, ...] = ()
    rules: tuple[QuotaRule, ...] = ()

    @property
    def transforms(self) -> tuple[TransformConfig, ...]:
        return tuple(step for step in self.written if isinstance(step, TransformConfig))

    @property
    def reads_body(self) -> bool:
        """Whether a step after validation needs the parsed body."""
        steps = [step for step in self.written if isinstance(step, PolicyStep)]
        return any(getattr(step.options, "reads_body", False) for step in steps)


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
               with `reads_body` gets a parsed body, one with `with_names` the spellings of the
               members of bodies. The value is hashable, and routes with equal ones share the
               stage, which keeps no state. MOMENT is when it runs: HEAD (the default); MODEL, or
               WRITTEN behind a policy that is; or WRITTEN
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


def sharer_of(policy: Policy) -> str:
    """Who shares a policy's quota: one of `values.quota.BY`."""
    return str(policy.options.get("by", "token")) if isinstance(policy.options, dict) else "token"


def _moment_of(policy: Policy, currency: str, *, by_model: bool) -> Moment:
    quota = quota_of(policy, currency)
    if quota is not None:
        last = by_model and depends_on_model(quota, sharer_of(policy))
        return Moment.LIMIT if last else Moment.HEAD
    module = get(policy.name)
    if hasattr(module, "transform"):
        return Moment.WRITTEN
    return Moment(getattr(module, "MOMENT", Moment.HEAD))


def moments(
    policies: Sequence[Policy], currency: str, *, by_model: bool
) -> Iterator[tuple[Policy, Moment]]:
    """The policies of a route, each with the moment when it runs. `by_model`: the route is to
    models, so that its limits may depend on the body."""
    in_order = False  # behind the first policy that runs as it is written
    for policy in policies:
        moment = _moment_of(policy, currency, by_model=by_model)
        if moment is Moment.MODEL and in_order:
            moment = Moment.WRITTEN
        in_order = in_order or moment is Moment.WRITTEN
        yield policy, moment


def guards(policies: Sequence[Policy], currency: str, spellings: Spellings | None = None) -> Guards:
    """Compile the policies of a route, whose options match the schemas. `spellings` are those of
    its bodies. Raises ValueError for what a schema cannot express."""
    steps: dict[Moment, list[PolicyStep]] = {moment: [] for moment in Moment}
    written: list[PolicyStep | TransformConfig] = []
    rules: list[QuotaRule] = []
    for policy, moment in moments(policies, currency, by_model=True):
        module, quota = get(policy.name), quota_of(policy, currency)
        if quota is not None:
            rules.append(_rule(policy, quota, {rule.name for rule in rules}))
            continue
        if hasattr(module, "transform"):
            written += transform_of(policy)
            continue
        options = module.read(policy.options) if hasattr(module, "read") else policy.options
        if spellings is not None and hasattr(options, "with_names"):
            options = options.with_names(spellings)
        step = PolicyStep(policy.name, options)
        (written if moment is Moment.WRITTEN else steps[moment]).append(step)
    return Guards(
        early=tuple(steps[Moment.HEAD]),
        models=tuple(steps[Moment.MODEL]),
        written=tuple(written),
        rules=tuple(rules),
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
