"""The optional steps of a request. One file is one policy, found by its place; nothing else names
it. `get` says what its module defines.

A policy runs as soon as what it judges is known (`Moment`). Those that judge what a transform may
edit run in the order of the config, with the transforms.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any

from msgspec import Struct

from engine.config.json_schema import Schema
from engine.config.routes import Policy
from engine.config.transforms import TransformConfig
from engine.exchange.exchange import Stage
from engine.exchange.stage_services import Services
from engine.policies.interface import (
    LimitPolicy,
    Moment,
    PolicyKind,
    StagePolicy,
    TransformPolicy,
)
from engine.spec.schemas.member_spellings import Spellings
from engine.values.discovery import Plugins
from engine.values.installed_plugins import POLICIES
from engine.values.quota import Quota, QuotaRule, depends_on_model
from engine.values.quota_sharers import Sharing, read_sharing
from engine.values.quota_window import window_key

KINDS: Plugins[PolicyKind] = Plugins(
    __name__, "POLICY", StagePolicy, LimitPolicy, TransformPolicy, group=POLICIES
)


class PolicyStep(Struct, frozen=True):
    """A policy that becomes a stage: its name, its kind, and its options as a typed value."""

    name: str
    kind: StagePolicy[Any]
    options: Hashable

    def stage(self, services: Services) -> Stage:
        """The stage, for the services of one worker."""
        return self.kind.build(self.options, services)

    @property
    def reads_body(self) -> bool:
        """Whether it needs the parsed body."""
        reads_body = self.kind.reads_body
        return reads_body is not None and reads_body(self.options)


class Guards(Struct, frozen=True):
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
        by_step = any(step.reads_body for step in self.written if isinstance(step, PolicyStep))
        return by_step or self.counts_by_body

    @property
    def counts_by_body(self) -> bool:
        """Whether the body decides who shares a quota."""
        return any("body" in rule.by.kinds for rule in self.rules)


def names() -> list[str]:
    """The names of all policies."""
    return KINDS.names()


def is_limit(name: str) -> bool:
    """Whether a policy enforces a quota; the others are stages."""
    return isinstance(KINDS.get(name), LimitPolicy)


def quota_of(policy: Policy, currency: str) -> Quota | None:
    """The quota that a policy enforces; None for a stage. Raises ValueError for wrong options, and
    for a kind of quota that does not exist."""
    kind = KINDS.get(policy.name)
    return kind.quota(policy.options, currency) if isinstance(kind, LimitPolicy) else None


def transform_of(policy: Policy) -> tuple[TransformConfig, ...]:
    """The transform of a policy, whose options match the schema; empty for policies that are not
    transforms."""
    kind = KINDS.get(policy.name)
    return (kind.transform(policy),) if isinstance(kind, TransformPolicy) else ()


def sharing_of(policy: Policy) -> Sharing:
    """Who shares a policy's quota. Raises ValueError for what a schema cannot express."""
    return read_sharing(policy.options if isinstance(policy.options, dict) else {})


def claims_of(policies: Iterable[Policy]) -> set[str]:
    """The places of the claims by which the quotas of policies are counted."""
    return {
        sharer.name
        for policy in policies
        if is_limit(policy.name)
        for sharer in sharing_of(policy).sharers
        if sharer.kind == "claim"
    }


def _moment_of(policy: Policy, currency: str, *, by_model: bool) -> Moment:
    quota = quota_of(policy, currency)
    if quota is not None:
        by = sharing_of(policy)
        last = "body" in by.kinds or (by_model and depends_on_model(quota, by))
        return Moment.LIMIT if last else Moment.HEAD
    kind = KINDS.get(policy.name)
    return kind.moment if isinstance(kind, StagePolicy) else Moment.WRITTEN


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
        kind, quota = KINDS.get(policy.name), quota_of(policy, currency)
        if quota is not None:
            rules.append(_rule(policy, quota, {rule.name for rule in rules}))
        elif isinstance(kind, StagePolicy):
            step = _step(policy, kind, spellings)
            (written if moment is Moment.WRITTEN else steps[moment]).append(step)
        else:
            written += transform_of(policy)
    return Guards(
        early=tuple(steps[Moment.HEAD]),
        models=tuple(steps[Moment.MODEL]),
        written=tuple(written),
        rules=tuple(rules),
    )


def _step(policy: Policy, kind: StagePolicy[Any], spellings: Spellings | None) -> PolicyStep:
    options = kind.read(policy.options)
    if spellings is not None and kind.with_names is not None:
        options = kind.with_names(options, spellings)
    return PolicyStep(policy.name, kind, options)


def _rule(policy: Policy, quota: Quota, names_in_use: set[str]) -> QuotaRule:
    """A quota under a name that does not depend on its position, so that its count survives a
    reload of the config. Policies for other operations are counted separately."""
    by = sharing_of(policy)
    group = sha256(policy.group.encode()).hexdigest()[:12] if policy.group else ""
    name = f"{policy.name}/{by}/{window_key(quota.window)}/{group}"
    while name in names_in_use:
        name += "+"
    return QuotaRule(quota, by, name)


def schema() -> Schema:
    """The JSON Schema of one entry under `policies`: a policy's name with its options."""
    return {
        "description": "One policy: its name, and its options.",
        "type": "object",
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
        "properties": {name: KINDS.get(name).schema for name in names()},
    }
