"""What is right and still unwise: warnings about a plan that has no errors.

A rule is a module in `rules/` that defines `check(case)`; nothing else names it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from ipaddress import ip_address
from urllib.parse import urlsplit

from engine import policies
from engine.config.model import (
    Config,
    Model,
    Policy,
    Upstream,
)
from engine.config.model_operations import ModelOperation, ModelOperations
from engine.offline import rules
from engine.plan.route import Plan, PlanResult, Route
from engine.source.problem import Findings, Level, Path
from engine.values.quota import KINDS

BUDGETS = frozenset(name for name, kind in KINDS.items() if kind.cost is not None)
"""The kinds of quota that bound what a request uses, not how many there are."""


@dataclass(frozen=True, slots=True)
class AskedFor:
    """A route on which models are asked for, and the kinds of what is limited there."""

    route: Route
    kinds: frozenset[str]


@dataclass(frozen=True)
class Case:
    """A plan without errors and what was found while it was made."""

    plan: Plan
    planned: PlanResult
    environ: Mapping[str, str]

    @property
    def findings(self) -> Findings:
        return self.planned.findings

    @property
    def config(self) -> Config:
        return self.plan.config

    def warn(self, at: Path, code: str, message: str, hint: str, *, key: bool = False) -> None:
        """Note a warning at a place of the config."""
        source = self.config.source
        self.findings.note(source, at, Level.WARNING, code, message, hint, key=key)

    @cached_property
    def listed_policies(self) -> list[Policy]:
        """Every policy that the config says, in its order."""
        of_routes = (policy for route in self.config.routes for policy in route.policies)
        return [*self.config.policies, *of_routes]

    def limits_of(self, listed: Iterable[Policy]) -> Iterator[tuple[Policy, str]]:
        """The policies that limit something, each with the kind: `requests`, `spend`, ..."""
        for policy in listed:
            quota = policies.quota_of(policy, self.config.currency)
            if quota is not None:
                yield policy, quota.kind

    @cached_property
    def _asked(self) -> dict[str, tuple[str, AskedFor]]:
        """By operation: its route where that names a model, and what tells it from others."""
        by_operation: dict[str, tuple[str, AskedFor]] = {}
        for route in self.plan.routes:
            if route.model is not None:
                kinds = frozenset(kind for _, kind in self.limits_of(route.policies))
                equivalent = f"{route.dialects[-1].name} {route.public} {sorted(kinds)}"
                by_operation[route.operation.id] = equivalent, AskedFor(route, kinds)
        return by_operation

    @cached_property
    def _by_operations(self) -> dict[tuple[ModelOperation, ...], list[AskedFor]]:
        return {}

    @cached_property
    def _operations(self) -> ModelOperations:
        return self.plan.model_operations()

    def asked(self, model: Model) -> list[AskedFor]:
        """The routes on which a model can be asked for: those of its operations.

        Of routes that are public or not and limited alike, one stands for all.
        """
        has = self._operations.of(model.name)
        if has not in self._by_operations:  # few models differ in this
            equivalent: dict[str, AskedFor] = {}
            for operation in has:
                equivalent.setdefault(*self._asked[operation.id])
            self._by_operations[has] = list(equivalent.values())
        return self._by_operations[has]


def is_loopback(upstream: Upstream) -> bool:
    """Whether an upstream is on this machine."""
    parts = urlsplit(upstream.url)
    host = parts.hostname or ""
    if parts.scheme == "http+unix" or host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def names() -> list[str]:
    """The rules there are."""
    return sorted(module.name for module in pkgutil.iter_modules(rules.__path__))


def audit(planned: PlanResult, environ: Mapping[str, str]) -> None:
    """Note in the plan's findings what is unwise in it; nothing while there are errors."""
    if planned.plan is None:
        return
    case = Case(planned.plan, planned, environ)
    for name in names():
        importlib.import_module(f"{rules.__name__}.{name}").check(case)
