"""The models callers may ask for, with their targets: an exact name first, then a wildcard."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from engine.config import model
from engine.source.suggestion import Suggestions
from engine.upstream.choose import order
from engine.upstream.target import Target, Upstream
from engine.values.wildcard import ByName


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model as it is served: its targets, and those of its fallbacks in their order."""

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

    def only(self, takes: Callable[[Target], bool]) -> ServedModel:
        """The model with those of its targets that take something."""
        targets = tuple(filter(takes, self.targets))
        fallbacks = tuple(filter(takes, self.fallbacks))
        if len(targets) + len(fallbacks) == len(self.targets) + len(self.fallbacks):
            return self
        return ServedModel(self.name, targets, fallbacks)


class Catalog(ByName[ServedModel]):
    """Models by name. A wildcard with more literal characters comes before one with fewer."""

    def __init__(self, models: Iterable[ServedModel]) -> None:
        super().__init__({served.name: served for served in models})
        self.suggestions = Suggestions(self.names())


def catalog(models: Mapping[str, model.Model], upstreams: Mapping[str, Upstream]) -> Catalog:
    """The catalog of a config whose names have all been checked."""

    def targets(name: str, asked: str = "") -> tuple[Target, ...]:
        return tuple(
            upstreams[target.upstream].target(
                target.model or asked,
                target.weight,
                target.model,
                name,
            )
            for target in models[name].to
        )

    def fallbacks(name: str, seen: dict[str, None]) -> dict[str, None]:
        for below in models[name].fallback:
            if below not in seen:
                seen[below] = None
                fallbacks(below, seen)
        return seen

    return Catalog(
        ServedModel(
            name,
            targets(name),
            tuple(t for below in fallbacks(name, {}) for t in targets(below, below)),
        )
        for name in models
    )
