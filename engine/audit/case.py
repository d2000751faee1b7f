"""What a rule of the audit looks at, and the questions that several of them ask."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from ipaddress import ip_address
from urllib.parse import urlsplit

from engine import policies
from engine.config.model import Config, Model, Policy, Upstream
from engine.plan import Plan, Planned, Route
from engine.problem import Findings, Level, Path

BUDGETS = frozenset({"spend", "tokens"})


@dataclass(frozen=True, slots=True)
class Asked:
    """A route on which models are asked for, and the kinds of what is limited there."""

    route: Route
    kinds: frozenset[str]


@dataclass(frozen=True)
class Case:
    """A plan without errors and what was found while it was made."""

    plan: Plan
    planned: Planned
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
        own = (policy for route in self.config.routes for policy in route.policies)
        return [*self.config.policies, *own]

    def limits_of(self, listed: Iterable[Policy]) -> Iterator[tuple[Policy, str]]:
        """The policies that limit something, each with the kind: `requests`, `spend`, ..."""
        for policy in listed:
            module = policies.get(policy.name)
            if hasattr(module, "allowance"):
                yield policy, module.allowance(policy.options, self.config.currency).kind

    @cached_property
    def _asked(self) -> dict[str, dict[str, list[Asked]]]:
        """By dialect: the routes that name a model, those alike counted once, by what limits."""
        found: dict[str, dict[str, list[Asked]]] = {}
        for route in self.plan.routes:
            if route.model is None:
                continue
            kinds = frozenset(kind for _, kind in self.limits_of(route.policies))
            alike = f"{route.public} {sorted(kinds)}"
            for dialect in ("", route.dialects[-1].name):
                found.setdefault(dialect, {}).setdefault(alike, [Asked(route, kinds)])
        return found

    def asked(self, model: Model) -> list[Asked]:
        """The routes on which a model can be asked for: those whose dialect an upstream speaks.

        Of routes that are public or not and limited alike, one stands for all.
        """
        speaks = {self.config.upstreams[target.upstream].dialect for target in model.to}
        by_dialect = [self._asked.get(dialect, {}) for dialect in sorted(speaks)]
        return [one for kinds in by_dialect for asked in kinds.values() for one in asked]


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
