"""Which parts a plan needs in its workers: what it does not need is not opened."""

from __future__ import annotations

from collections.abc import Iterator

from engine import policies
from engine.config.routes import Policy
from engine.plan.plan import Plan
from engine.spec.bodies.request_bodies import Bodies
from engine.upstream import choose
from engine.upstream.conditions.compile import claims_of


def is_metered(plan: Plan) -> bool:
    """Whether usage is needed: for the access log, metrics, traces, the ledger, limits, or the
    choice of targets by their answer times."""
    config, telemetry = plan.config, plan.config.telemetry
    has_log = telemetry.access_log.format != "off"
    traces = telemetry.traces is not None
    is_recorded = has_log or bool(telemetry.metrics) or traces
    choices = [choice for model in config.models.values() for choice in model.choices]
    choices += [route.choose for route in plan.routes]
    by_time = any(choose.kind_of(choice).by_time for choice in choices)
    return is_recorded or by_time or is_limited(plan)


def is_limited(plan: Plan) -> bool:
    """Whether there may be quotas; tokens in a database may get quotas at any time."""
    config = plan.config
    return (
        config.stores.records is not None
        or config.limits_callers
        or any(policies.is_limit(policy.name) for policy in _policies(plan))
        or _counts_secrets(plan)
    )


def _counts_secrets(plan: Plan) -> bool:
    """Whether the uses of client secrets are counted."""
    forms = [route.client_secrets for route in plan.routes]
    has_uses = any(form is not None and form.first is not None for form in forms)
    return has_uses and bool(plan.config.client_secrets.keys)


def is_guarded(plan: Plan) -> bool:
    """Whether a policy asks a webhook."""
    return any(policy.name == "guard" for policy in _policies(plan))


def is_bounded(plan: Plan) -> bool:
    """Whether an upstream or a target has a bound of requests at one time."""
    config = plan.config
    lists = [model.targets for model in config.models.values()] + [
        route.to for route in plan.routes
    ]
    bounds = [upstream.max_in_flight for upstream in config.upstreams.values()]
    bounds += [target.max_in_flight for targets in lists for target in targets]
    return any(bound is not None for bound in bounds)


def carried_claims(plan: Plan) -> set[str]:
    """The places of the claims that are read of callers: by limits, by rules of models, and as
    tags."""
    tags = {tag.place.name for tag in plan.config.tags if tag.place.kind == "claim"}
    rules = [rule for model in plan.config.models.values() for rule in model.when]
    by_rules = (claims_of(rule.conditions) for rule in rules)
    return policies.claims_of(_policies(plan)).union(tags, *by_rules)


def _policies(plan: Plan) -> Iterator[Policy]:
    """The policies of all routes, and of none."""
    yield from plan.config.policies
    for route in plan.routes:
        yield from route.policies


def costly_operations(plan: Plan) -> frozenset[str]:
    """The operations with bodies that may take long to validate, by their schemas."""
    return frozenset(
        route.operation.id
        for route in plan.routes
        if route.validate != "off" and _has_costly_body(route.operation.bodies)
    )


def _has_costly_body(bodies: Bodies) -> bool:
    validators = [rule.validator for rule in bodies.all_rules]
    return any(each is not None and each.is_costly for each in validators)
