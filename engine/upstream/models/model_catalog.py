"""The models that callers may ask for, with their targets."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.config.model_operation import ModelOperation
from engine.config.models import (
    DEFAULT_CHOICE,
    STAR,
    Choice,
    MirrorConfig,
    Model,
    RuleConfig,
    TargetConfig,
)
from engine.config.operations_by_model import Kind, ModelOperations
from engine.config.providers import CallerChoice
from engine.exchange.exchange import Exchange
from engine.source.suggestion import Suggestions
from engine.upstream.conditions.compile import Conditions, compile_conditions
from engine.upstream.conditions.request_facts import RequestFacts
from engine.upstream.models.choice_search import always, may_choose
from engine.upstream.models.token_counter import CountTokens
from engine.upstream.targets.target import Target, Upstream
from engine.upstream.targets.target_groups import Strategy, TargetGroup, TargetOrder
from engine.values.wildcard import ByName, Patterns, star_text

_NO_COUNTERS: Mapping[str, CountTokens] = {}


class ServedRule(Struct, frozen=True):
    """A rule of a model: requests that meet the conditions are served by `model`, which has the
    name of the rule's model and the targets of the rule."""

    conditions: Conditions
    model: ServedModel


class ServedMirror(Struct, frozen=True):
    """Where copies of `percent` of the requests for a model go: to `model`, which has its name and
    the targets of the mirror; at most `max_in_flight` at one time in a worker. `operations` are
    patterns of those that the config lets it copy."""

    percent: float
    max_in_flight: int
    operations: Patterns
    model: ServedModel


class ServedModel(Struct, frozen=True):
    """A model and its `groups` of targets: its own first, then those of each fallback. Groups are
    asked one after another, the targets of each in the order of its strategy. `shortens`: a target
    has STAR as its name for the model, which stands for the part that the wildcard matches.
    `choices` are what callers could choose at its upstreams besides the model, and must not;
    `may_choose` says which requests may have one. `count_tokens` counts by the model's
    tokenizer. `rules` send some requests elsewhere; the first that is met decides.
    `mirror` gets copies of some, None for none."""

    name: str
    groups: tuple[TargetGroup, ...]
    shortens: bool = False
    choices: tuple[CallerChoice, ...] = ()
    may_choose: Callable[[Exchange], bool] = always
    count_tokens: CountTokens | None = None
    rules: tuple[ServedRule, ...] = ()
    mirror: ServedMirror | None = None

    def for_request(self, exchange: Exchange) -> ServedModel:
        """The model with the targets for a request that names it, whose rule is noted in the
        exchange. Raises GatewayError 400 for a value that the request has twice."""
        facts = RequestFacts(exchange)
        for index, rule in enumerate(self.rules):
            if rule.conditions.hold(facts):
                exchange.model.rule = index
                return rule.model
        return self

    def order(self, exchange: Exchange) -> Sequence[Target]:
        """The targets for a request that names the model, in the order of attempts."""
        groups = self.groups
        if not self.shortens and len(groups) == 1:
            return groups[0].order(exchange)
        return TargetOrder(self._picks(exchange), sum(map(len, groups)))

    def _picks(self, exchange: Exchange) -> Iterator[Target]:
        for group in self.groups:
            for target in group.picks(exchange):
                if self.shortens and target.model == STAR:
                    yield target.with_model(star_text(exchange.model.name, self.name))
                else:
                    yield target

    def for_operation(self, language: Callable[[Target], str | None]) -> ServedModel:
        """The model with the targets that have an operation. `language` returns the language into
        which requests are translated for a target, "" for none, None if it does not have the
        operation. In each group, targets without a translation come first."""
        groups: list[TargetGroup] = []
        for group in self.groups:
            languages = [(target, language(target)) for target in group.configured]
            relayed = [target for target, name in languages if name == ""]
            translated = [target for target, name in languages if name]
            groups += [group.of(targets) for targets in (relayed, translated) if targets]
        rules = tuple(
            replace(rule, model=rule.model.for_operation(language)) for rule in self.rules
        )
        mirror = self.mirror
        if mirror is not None:
            mirror = replace(mirror, model=mirror.model.for_operation(language))
        # As of most models, which then take no memory for each operation.
        same = groups == [*self.groups] and rules == self.rules and mirror == self.mirror
        return self if same else replace(self, groups=tuple(groups), rules=rules, mirror=mirror)


class Catalog:
    """Models by name: an exact name first, then the wildcard with the most literal characters.

    `make` builds the model of an entry at its first request, because a config may have thousands
    that are never requested. `listed` are the names that lists show, also of models behind a
    wildcard.
    """

    def __init__(
        self,
        entries: Mapping[str, Model],
        make: Callable[[str], ServedModel],
        listed: Iterable[str] = (),
    ) -> None:
        self._entries = ByName(entries)
        self._make = make
        self._models: dict[str, ServedModel] = {}  # by the name of the entry
        self.suggestions = Suggestions({*self._entries.names(), *listed})

    def find(self, name: str) -> ServedModel | None:
        """The model of a requested name, None if there is none."""
        return self._models.get(name) or self._find(name)

    def _find(self, name: str) -> ServedModel | None:
        entry = self._entries.find(name)
        return None if entry is None else self.model(entry.name)

    def model(self, entry: str) -> ServedModel:
        """The model of an entry."""
        if entry not in self._models:
            self._models[entry] = self._make(entry)
        return self._models[entry]


class OperationModels:
    """The models that have the operations of one kind, with the targets that have them."""

    def __init__(self, operation: ModelOperation, operations: ModelOperations) -> None:
        self._operation = operation
        self._operations = operations
        # By the name of the entry; None for a model that does not have the operations.
        self._models: dict[str, ServedModel | None] = {}

    def find(self, entry: ServedModel) -> ServedModel | None:
        """The model with the targets that have the operations; None if it does not have them."""
        name = entry.name
        if name not in self._models:
            has = self._operations.has(name, self._operation)
            self._models[name] = entry.for_operation(self._language) if has else None
        return self._models[name]

    def _language(self, target: Target) -> str | None:
        dialect = target.upstream.dialect
        return self._operations.language(target.entry, dialect, self._operation)


class ModelsByOperation:
    """The models of each operation. The operations of a kind share them, because there may be
    thousands of routes and of models."""

    def __init__(self, operations: ModelOperations) -> None:
        self.operations = operations
        self._by_kind: dict[Kind, OperationModels] = {}

    def of(self, operation: ModelOperation) -> OperationModels:
        """The models of an operation."""
        kind = self.operations.kind(operation)
        if kind not in self._by_kind:
            self._by_kind[kind] = OperationModels(operation, self.operations)
        return self._by_kind[kind]


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
