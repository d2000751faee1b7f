"""Builds the catalog of models from the config."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec.structs import replace

from engine.config.models import (
    DEFAULT_CHOICE,
    STAR,
    Choice,
    MirrorConfig,
    Model,
    RuleConfig,
    TargetConfig,
)
from engine.upstream.conditions.compile import compile_conditions
from engine.upstream.models.choice_search import always, may_choose
from engine.upstream.models.model_catalog import Catalog, ServedMirror, ServedModel, ServedRule
from engine.upstream.models.token_counter import CountTokens
from engine.upstream.targets.target import Upstream
from engine.upstream.targets.target_groups import Strategy, TargetGroup
from engine.values.wildcard import Patterns

_NO_COUNTERS: Mapping[str, CountTokens] = {}


def build_catalog(
    models: Mapping[str, Model],
    upstreams: Mapping[str, Upstream],
    strategy: Callable[[Choice], Strategy],
    listed: Iterable[str] = (),
    watch: Callable[[Sequence[TargetGroup]], None] = lambda groups: None,
    counters: Mapping[str, CountTokens] = _NO_COUNTERS,
    clock: Callable[[], float] = time.time,
) -> Catalog:
    """The catalog of a config in which every name is resolved. `strategy` builds the strategy of a
    model, `listed` are the names that lists show. `watch` is called with the groups of each model
    that is built. `counters` count tokens, by the names of their models. `clock` gives Unix seconds
    for rules by the time."""
    maker = _ModelMaker(models, upstreams, strategy, watch, counters, clock)
    return Catalog(models, maker.make, listed)


class _ModelMaker:
    """Makes the models of entries; the arguments are those of `build_catalog`."""

    def __init__(
        self,
        models: Mapping[str, Model],
        upstreams: Mapping[str, Upstream],
        strategy: Callable[[Choice], Strategy],
        watch: Callable[[Sequence[TargetGroup]], None],
        counters: Mapping[str, CountTokens],
        clock: Callable[[], float],
    ) -> None:
        self._models, self._upstreams = models, upstreams
        self._strategy, self._watch = strategy, watch
        self._counters, self._clock = counters, clock
        self._fallback_groups: dict[str, TargetGroup] = {}

    def make(self, name: str) -> ServedModel:
        """The model of an entry, with those of its rules."""
        entry = self._models[name]
        rules = tuple(
            ServedRule(
                compile_conditions(rule.conditions, self._clock), self._served_model(name, rule)
            )
            for rule in entry.when
        )
        model = self._served_model(name, entry)
        mirror = None if entry.mirror is None else self._mirror(name, entry.mirror)
        return replace(model, rules=rules, mirror=mirror) if rules or mirror else model

    def _mirror(self, name: str, config: MirrorConfig) -> ServedMirror:
        entry = RuleConfig({}, config.to, (), DEFAULT_CHOICE, config.at)
        patterns, model = Patterns(config.operations), self._served_model(name, entry)
        return ServedMirror(config.percent, config.max_in_flight, patterns, model)

    def _served_model(self, name: str, entry: Model | RuleConfig) -> ServedModel:
        names = _fallbacks(self._models, entry.fallback, {})
        groups = (self._group(name, entry), *map(self._fallback_group, names))
        self._watch(groups)
        return _served_model(name, entry, groups, self._counters.get(name))

    def _fallback_group(self, name: str) -> TargetGroup:
        """The group of a fallback, which thousands of models may have."""
        if name not in self._fallback_groups:
            self._fallback_groups[name] = self._group(name, self._models[name], name)
        return self._fallback_groups[name]

    def _group(self, name: str, entry: Model | RuleConfig, default_model: str = "") -> TargetGroup:
        targets = [
            self._upstreams[target.upstream].target(
                target.model or default_model,
                target.weight,
                target.model,
                name,
                target.transform,
                target.max_in_flight,
            )
            for target in entry.to
        ]
        return TargetGroup(targets, self._strategy(entry.choose))


def _served_model(
    name: str,
    entry: Model | RuleConfig,
    groups: tuple[TargetGroup, ...],
    count_tokens: CountTokens | None,
) -> ServedModel:
    targets = [target for each in groups for target in each.configured]
    choices = {c.name: c for target in targets for c in target.upstream.choices}.values()
    by_name = "*" in name and any(choice.model for choice in choices)
    return ServedModel(
        name,
        groups,
        any(target.model == STAR for target in entry.to),
        tuple(choices),
        always if by_name else may_choose(tuple(choices)),
        count_tokens,
    )


def _fallbacks(
    models: Mapping[str, Model], fallbacks: Iterable[str], names: dict[str, None]
) -> Mapping[str, None]:
    """The fallbacks of a model or rule, and theirs, in the order in which they are asked."""
    for fallback in fallbacks:
        if fallback not in names:
            names[fallback] = None
            _fallbacks(models, models[fallback].fallback, names)
    return names


def fixed_targets(
    to: Iterable[TargetConfig], upstreams: Mapping[str, Upstream], strategy: Strategy
) -> TargetGroup:
    """The targets of a route without models, with its strategy."""
    targets = [
        upstreams[target.upstream].target(
            target.model,
            target.weight,
            transform=target.transform,
            max_in_flight=target.max_in_flight,
        )
        for target in to
    ]
    return TargetGroup(targets, strategy)
