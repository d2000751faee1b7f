"""The models that callers may ask for, with their targets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.config.model_operation import ModelOperation
from engine.config.models import (
    STAR,
    Model,
)
from engine.config.operations_by_model import Kind, ModelOperations
from engine.config.providers import CallerChoice
from engine.exchange.exchange import Exchange
from engine.source.suggestion import Suggestions
from engine.upstream.conditions.compile import Conditions
from engine.upstream.conditions.request_facts import RequestFacts
from engine.upstream.models.choice_search import always
from engine.upstream.models.token_counter import CountTokens
from engine.upstream.targets.target import Target
from engine.upstream.targets.target_groups import TargetGroup, TargetOrder
from engine.values.wildcard import ByName, Patterns, star_text


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
