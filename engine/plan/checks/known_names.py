"""Checks that every name in gateway.yaml exists: dialects, upstreams, models, policies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from operator import attrgetter
from typing import Any

from engine import dialects, policies
from engine.config import schema_check
from engine.config.config import Config
from engine.config.joined_document import earlier_name
from engine.config.keys import ANNOTATION
from engine.config.models import STAR, Choice, Model, RuleConfig, TargetConfig, target_paths
from engine.config.routes import Policy, RouteConfig
from engine.config.server import read_networks
from engine.config.unknown_keys import elsewhere
from engine.config.upstreams import UpstreamConfig
from engine.edge import answers
from engine.plan.checks.caller_transforms import check_transforms_of_callers
from engine.relay.request_headers import NEVER_SENT
from engine.source.problem import Findings, Level, Path
from engine.source.suggestion import Suggestions, did_you_mean
from engine.spec.request_conditions import ConditionError
from engine.upstream import choose
from engine.upstream.choose.interface import StrategyKind, StrategyOptions
from engine.upstream.conditions.compile import compile_conditions
from engine.values.discovery import HINT, Plugins
from engine.values.wildcard import matches

_DESTINATIONS = ("model", "to", "answer", "respond")  # of a route


def check_names(config: Config, findings: Findings) -> None:
    """Note every unknown name, and every route without exactly one of its
    destinations."""
    schema_check.reject_invalid(policies.KINDS, attrgetter("schema"))
    schema_check.reject_invalid(choose.KINDS, _schema_of)
    checker = _Checker(config, findings)
    for spec in config.specs.values():
        checker.dialect(spec.dialect, (*spec.at, "dialect"))
    for upstream in config.upstreams.values():
        if upstream.dialect:
            checker.dialect(upstream.dialect, (*upstream.at, "dialect"))
        checker.forwarded(upstream)
    for entry in config.models.values():
        for branch in entry.branches:
            checker.targets(branch.to, branch.at, entry.name)
            checker.choice(branch.choose)
            checker.fallbacks(branch)
        if entry.mirror is not None:
            checker.targets(entry.mirror.to, entry.mirror.at, entry.name)
        checker.conditions(entry.when)
    checker.cycles()
    checker.policies(config.policies)
    for route in config.routes:
        checker.route(route)
    for server in config.mcp.values():
        checker.used_upstreams.update(each.upstream for each in server.servers)
    checker.unused()


def _schema_of(strategy: StrategyKind[Any]) -> object:
    return {} if strategy.options is None else strategy.options.schema


@cache
def _options_validator(name: str) -> schema_check.Validator:
    """The validator of the options of a policy."""
    return schema_check.Validator(policies.KINDS.get(name).schema)


@cache
def _choice_validator(options: StrategyOptions[Any]) -> schema_check.Validator:
    """The validator of the options of a strategy."""
    return schema_check.Validator(options.schema)


class _Checker:
    def __init__(self, config: Config, findings: Findings) -> None:
        self.config = config
        self.findings = findings
        self.used_upstreams: set[str] = set()
        self.answers = schema_check.Validator(answers.schema())

    def error(
        self, at: Path, code: str, message: str, hint: str = "", *, key: bool = False
    ) -> None:
        self.findings.error(self.config.source, at, code, message, hint, key=key)

    def _exists(self, section: str, name: str) -> bool:
        return name in getattr(self.config, section) or self.config.invalid.has(section, name)

    def _is_unusable(self, kinds: Plugins[Any], name: str, at: Path, *, key: bool = False) -> bool:
        """Whether a distribution brings a plug-in of that name that cannot be used; notes it."""
        problem = kinds.problems.get(name, "")
        if problem:
            self.error(at, "MW113", problem, HINT, key=key)
        return bool(problem)

    def dialect(self, name: str, at: Path) -> None:
        if self._is_unusable(dialects.KINDS, name, at):
            return
        if name not in dialects.names():
            hint = did_you_mean(name, dialects.names())
            self.error(at, "MW311", f"unknown dialect '{name}'", hint)

    def forwarded(self, upstream: UpstreamConfig) -> None:
        for index, name in enumerate(upstream.forward_headers):
            if name.lower() in NEVER_SENT:
                at = (*upstream.at, "forward_headers", index)
                message = f"header '{name}' is never forwarded"
                self.error(at, "MW312", message, "it carries the caller's token or address")

    def targets(self, targets: Iterable[TargetConfig], of: Path, entry: str = "") -> None:
        for at, target in target_paths(of, targets):
            self.used_upstreams.add(target.upstream)
            if not self._exists("upstreams", target.upstream):
                hint = did_you_mean(target.upstream, self.config.upstreams)
                message = f"unknown upstream '{target.upstream}'"
                self.error((*at, "upstream"), "MW313", message, hint)
            if "*" in target.model and (target.model != STAR or entry.count("*") != 1):
                message = "a target's model is a name, not a wildcard"
                hint = 'write a name; or "*", if the name of the entry has one *'
                self.error((*at, "model"), "MW314", message, hint)

    def choice(self, choice: Choice) -> None:
        name, at = choice.strategy, choice.at
        key = choice.options is not None
        if self._is_unusable(choose.KINDS, name, at, key=key):
            return
        if name not in choose.names():
            hint = did_you_mean(name, choose.names()) or f"one of {', '.join(choose.names())}"
            hint = "`when` of a model stands beside `choose`, not in it" if name == "when" else hint
            self.error(at, "MW380", f"unknown strategy '{name}'", hint, key=key)
            return
        options = choose.kind_of(choice).options
        if options is None:
            if choice.options is not None:
                message = f"the strategy '{name}' has no options"
                self.error(at, "MW381", message, f"write choose: {name}", key=True)
            return
        if choice.options is None:
            message = f"the strategy '{name}' needs an option"
            self.error(at, "MW381", message, f"write {options.form}")
            return
        validator = _choice_validator(options)
        if schema_check.check(choice.options, validator, self.config.source, at, self.findings):
            return
        try:
            choose.compiled(choice)
        except ValueError as error:
            self.error(at, "MW381", str(error), f"write {options.form}")

    def conditions(self, rules: Iterable[RuleConfig]) -> None:
        for rule in rules:
            try:
                compile_conditions(rule.conditions)
            except ConditionError as error:
                at = (*rule.at, "if", *error.at)
                self.error(at, "MW104", str(error), error.hint, key=error.key)

    def fallbacks(self, entry: Model | RuleConfig) -> None:
        for index, name in enumerate(entry.fallback):
            at = (*entry.at, "fallback", index)
            if not self._exists("models", name):
                hint = self.model_hint(name)
                self.error(at, "MW314", f"unknown model '{name}'", hint)
            elif "*" in name:
                message = "a fallback is a model's name, not a wildcard"
                self.error(at, "MW314", message, "write the name of a model")

    def model_hint(self, name: str) -> str:
        """The hint for an unknown model: the entry whose target has this name at its upstream, or
        one with a similar name."""
        if (entry := self._names_by_target.get(name)) is not None:
            return f"did you mean '{entry}', whose target is '{name}'?"
        return self._models.hint(name)

    @cached_property
    def _names_by_target(self) -> dict[str, str]:
        """The first entry by the names that its targets have at their upstreams."""
        models = reversed([*self.config.models.values()])
        return {target.model: entry.name for entry in models for target in entry.targets}

    @cached_property
    def _models(self) -> Suggestions:
        return Suggestions(self.config.models)

    def cycles(self) -> None:
        """Note each cycle of fallbacks once, at its first model in the file."""
        reported: set[frozenset[str]] = set()
        for name in self.config.models:
            cycle = self._cycle(name)
            if cycle and frozenset(cycle) not in reported:
                reported.add(frozenset(cycle))
                chain = " -> ".join([*cycle, name])
                at = ("models", name, "fallback")
                self.error(at, "MW315", f"fallbacks form a cycle: {chain}", "remove one of them")

    def _cycle(self, start: str) -> list[str]:
        """The shortest chain of fallbacks from a model back to itself; empty if there is none."""
        chains = [[start]]
        visited: set[str] = set()
        for chain in chains:
            entry = self.config.models.get(chain[-1])
            for name in entry.fallback if entry else ():
                if name == start:
                    return chain
                if name not in visited:
                    visited.add(name)
                    chains.append([*chain, name])
        return []

    def policies(self, entries: Sequence[Policy]) -> None:
        self.order(entries)
        for policy in entries:
            if self._is_unusable(policies.KINDS, policy.name, policy.at, key=True):
                continue
            if policy.name not in policies.names():
                hint = did_you_mean(policy.name, policies.names(), elsewhere(policy.name))
                self.error(policy.at, "MW316", f"unknown policy '{policy.name}'", hint, key=True)
                continue
            validator = _options_validator(policy.name)
            if schema_check.check(
                policy.options, validator, self.config.source, policy.at, self.findings
            ):
                continue
            if policies.KINDS.get(policy.name).schema.get(ANNOTATION, {}).get("unit") == "network":
                read_networks(policy.options, policy.at, self.config.source, self.findings)
                continue
            if policy.name == "guard":
                self.used_upstreams.add(policy.options["webhook"])
            transforms = policies.transform_of(policy)
            check_transforms_of_callers(transforms, self.config, self.findings)
            try:
                policies.guards([policy], self.config.currency)
            except ConditionError as error:
                self.error((*policy.at, *error.at), "MW104", str(error), error.hint, key=error.key)
            except ValueError as error:
                self.error(policy.at, "MW104", str(error))

    def order(self, entries: Iterable[Policy]) -> None:
        """Note a `max_body` that cannot run where it is written: the body has been received."""
        edits = False  # a transform before it edits bodies
        for policy in entries:
            if policy.name == "max_body" and edits:
                message = "'max_body' bounds the body as it is received, before this transform"
                hint = "write it before the transform; 'deny' judges what a transform has edited"
                self.error(policy.at, "MW358", message, hint, key=True)
            options = policy.options if policy.name == "transform" else None
            request = options.get("request") if isinstance(options, dict) else None
            edits = edits or (isinstance(request, dict) and "body" in request)

    def route(self, route: RouteConfig) -> None:
        self.targets(route.to, route.at)
        self.choice(route.choose)
        if not route.to and route.choose.is_configured:
            message = "'choose' of a route needs 'to'; models have their own 'choose'"
            self.error(route.choose.at, "MW381", message, "write it under 'models'", key=True)
        self.policies(route.policies)
        self.answer(route)
        destinations = [key for key in _DESTINATIONS if getattr(route, key)]
        if len(destinations) != 1:
            present = " and ".join(destinations) if destinations else "none of them"
            answer_form = f"answer: {' or '.join(answers.names())}; respond: for a fixed response"
            hint = f"model: for requests that name one; to: for a fixed upstream; {answer_form}"
            message = (
                f"a route has one of 'model', 'to', 'answer' and 'respond'; this has {present}"
            )
            at = self.last_of(route.at, destinations)
            self.error(at, "MW317", message, hint, key=bool(destinations))
        if not route.operations:
            self.error(route.at, "MW317", "a route needs 'operation' or 'operations'")
        self.default(route)
        if route.model and not self.config.models and "models" not in self.config.invalid.names:
            self.error((*route.at, "model"), "MW317", "there are no 'models' for it to name")

    def answer(self, route: RouteConfig) -> None:
        at = (*route.at, "answer")
        if route.answer:
            schema_check.check(route.answer, self.answers, self.config.source, at, self.findings)

    def last_of(self, at: Path, names: Sequence[str]) -> Path:
        """The path of the last key of an entry in the file; that of the entry without names."""
        paths = [(*at, name) for name in names]
        source = self.config.source
        return max(paths, key=lambda path: source.place(path, key=True), default=at)

    def default(self, route: RouteConfig) -> None:
        name = route.default_model
        models = self.config.models
        if not name or self._exists("models", name) or any(matches(name, m) for m in models):
            return
        hint = self.model_hint(name)
        self.error((*route.at, "model", "default"), "MW314", f"unknown model '{name}'", hint)

    def unused(self) -> None:
        for name, upstream in self.config.upstreams.items():
            if name not in self.used_upstreams and not self.config.invalid.names:
                self.findings.note(
                    self.config.source,
                    upstream.at,
                    Level.WARNING,
                    "MW318",
                    f"upstream '{name}' is not used",
                    earlier_name(self.config.source, "upstreams", name),
                    key=True,
                )
