"""The models that callers may ask for, with their targets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from engine.config.models import Model
from engine.source.suggestion import Suggestions
from engine.upstream.choose import order
from engine.upstream.target import Target, Upstream
from engine.values.wildcard import ByName


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model with its own targets and those of its fallbacks, in their order."""

    name: str
    targets: tuple[Target, ...]
    fallbacks: tuple[Target, ...]

    def candidates(self, dice: Callable[[], float]) -> list[Target]:
        """All targets in the order in which they are tried: by weight, then each fallback's."""
        candidates = order(self.targets, dice)
        if not self.fallbacks:
            return candidates
        for _, group in groupby(self.fallbacks, key=attrgetter("entry")):
            candidates += order([*group], dice)
        return candidates

    def filter_targets(self, accepts: Callable[[Target], bool]) -> ServedModel:
        """The model with only those of its targets for which `accepts` is true."""
        targets = tuple(filter(accepts, self.targets))
        fallbacks = tuple(filter(accepts, self.fallbacks))
        if len(targets) + len(fallbacks) == len(self.targets) + len(self.fallbacks):
            return self
        return ServedModel(self.name, targets, fallbacks)


class Catalog(ByName[ServedModel]):
    """Models by name: an exact name first, then the wildcard with the most literal characters."""

    def __init__(self, models: Iterable[ServedModel]) -> None:
        super().__init__({model.name: model for model in models})
        self.suggestions = Suggestions(self.names())


def build_catalog(models: Mapping[str, Model], upstreams: Mapping[str, Upstream]) -> Catalog:
    """The catalog of a config in which every name is resolved."""

    def targets(name: str, default_model: str = "") -> tuple[Target, ...]:
        return tuple(
            upstreams[target.upstream].target(
                target.model or default_model,
                target.weight,
                target.model,
                name,
            )
            for target in models[name].to
        )

    def fallbacks(name: str, names: dict[str, None]) -> dict[str, None]:
        for fallback in models[name].fallback:
            if fallback not in names:
                names[fallback] = None
                fallbacks(fallback, names)
        return names

    return Catalog(
        ServedModel(
            name,
            targets(name),
            tuple(t for fallback in fallbacks(name, {}) for t in targets(fallback, fallback)),
        )
        for name in models
    )
