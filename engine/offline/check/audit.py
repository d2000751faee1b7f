"""The audit: warnings about unwise settings in a plan without errors.

A rule is a module in `rules/` that defines `check(case)`, found by its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property
from ipaddress import ip_address
from types import FunctionType
from urllib.parse import urlsplit

from msgspec import Struct

from engine import policies
from engine.config.config import Config
from engine.config.joined_document import JoinedDocument
from engine.config.models import Model
from engine.config.operations_by_model import ModelOperations
from engine.config.routes import Policy
from engine.config.upstreams import UpstreamConfig
from engine.plan.plan import Plan, PlanResult
from engine.plan.route import Route
from engine.source.problem import Findings, Level, Path
from engine.source.reader import SourceDocument
from engine.values.discovery import Plugins
from engine.values.quota import KINDS

BUDGETS = frozenset(name for name, kind in KINDS.items() if kind.cost is not None)
"""The kinds of quota for the usage of requests, not for their number."""
_MONEY = frozenset(name for name, kind in KINDS.items() if kind.money)


class ModelRoute(Struct, frozen=True):
    """A route that serves models, and the kinds of its limits."""

    route: Route
    kinds: frozenset[str]


@dataclass(frozen=True)
class AuditCase:
    """The input of a rule: a plan without errors, its findings, the environment and the date."""

    plan: Plan
    plan_result: PlanResult
    environ: Mapping[str, str]
    today: date

    @property
    def findings(self) -> Findings:
        return self.plan_result.findings

    @property
    def config(self) -> Config:
        return self.plan.config

    @property
    def config_files(self) -> list[SourceDocument]:
        """gateway.yaml, the files that it includes, and its overlays."""
        source = self.config.source
        return source.files if isinstance(source, JoinedDocument) else [source]

    def warn(self, at: Path, code: str, message: str, hint: str, *, key: bool = False) -> None:
        """Add a warning at a place of the config."""
        source = self.config.source
        self.findings.note(source, at, Level.WARNING, code, message, hint, key=key)

    @cached_property
    def listed_policies(self) -> list[Policy]:
        """Every policy of the config, in order."""
        route_policies = (policy for route in self.config.routes for policy in route.policies)
        return [*self.config.policies, *route_policies]

    def limits_of(self, listed: Iterable[Policy]) -> Iterator[tuple[Policy, str]]:
        """The policies that limit usage, each with its kind: `requests`, `spend`, ..."""
        for policy in listed:
            quota = policies.quota_of(policy, self.config.currency)
            if quota is not None:
                yield policy, quota.kind

    @cached_property
    def _model_routes(self) -> dict[str, tuple[str, ModelRoute]]:
        """Routes that serve models, by operation, each with a key that equivalent routes share."""
        by_operation: dict[str, tuple[str, ModelRoute]] = {}
        for route in self.plan.routes:
            if route.model is not None:
                kinds = frozenset(kind for _, kind in self.limits_of(route.policies))
                equivalent = f"{route.dialects[-1].name} {route.allows_anonymous} {sorted(kinds)}"
                by_operation[route.operation.id] = equivalent, ModelRoute(route, kinds)
        return by_operation

    @cached_property
    def _by_group(self) -> dict[int, list[ModelRoute]]:
        return {}

    @cached_property
    def operations(self) -> ModelOperations:
        """Which operations each model has."""
        return self.plan.model_operations()

    def limits_money_of(self, model: Model) -> bool:
        """Whether a policy or a token in the config limits the money spent on a model."""
        return any(self._limits_money or _MONEY & route.kinds for route in self.routes_for(model))

    @cached_property
    def _limits_money(self) -> bool:
        limits = [limit for caller, _ in self.config.callers() for limit in caller.limits]
        limits += [limit for team in self.config.teams.by_name.values() for limit in team.limits]
        return any(limit.kind in _MONEY for limit in limits)

    def routes_for(self, model: Model) -> list[ModelRoute]:
        """The routes that serve a model: those of its operations. Of equivalent routes (dialect,
        public, limits) only the first.
        """
        group = self.operations.group(model.name)
        if group not in self._by_group:
            equivalent: dict[str, ModelRoute] = {}
            for operation in self.operations.of(model.name):
                equivalent.setdefault(*self._model_routes[operation.id])
            self._by_group[group] = list(equivalent.values())
        return self._by_group[group]


RULES: Plugins[Callable[[AuditCase], None]] = Plugins(
    "engine.offline.check.rules", "check", FunctionType
)
"""The rules, by their names."""


def is_loopback(upstream: UpstreamConfig) -> bool:
    """Whether an upstream is on this machine; false if its addresses come from SRV or a file."""
    resolve = upstream.resolve
    elsewhere = resolve is not None and (resolve.srv or resolve.file)
    return not elsewhere and is_loopback_url(upstream.url)


def is_loopback_url(url: str) -> bool:
    """Whether a server is on this machine."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme == "http+unix" or host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def audit(plan_result: PlanResult, environ: Mapping[str, str], today: date | None = None) -> None:
    """Run all rules and add their warnings to the plan's findings; nothing for a plan with errors.
    `today` is the date for the age of prices, by default today in UTC."""
    if plan_result.plan is None:
        return
    case = AuditCase(plan_result.plan, plan_result, environ, today or datetime.now(UTC).date())
    for check in RULES.all():
        check(case)
