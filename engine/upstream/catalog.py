"""The models callers may ask for, with their targets: an exact name first, then a wildcard."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from engine.config import model
from engine.upstream.choose import order
from engine.upstream.target import Target, Upstream
from engine.wildcard import matches


@dataclass(frozen=True, slots=True)
class Served:
    """A model as it is served: its targets, and those of its fallbacks in their order."""

    name: str
    targets: tuple[Target, ...]
    fallbacks: tuple[Target, ...]

    def candidates(self, dice: Callable[[], float]) -> list[Target]:
        """All targets in the order in which they are tried: one by weight, the rest, fallbacks."""
        return [*order(self.targets, dice), *self.fallbacks]


class Catalog:
    """Models by name. A wildcard with more literal characters comes before one with fewer."""

    def __init__(self, models: Iterable[Served]) -> None:
        every = list(models)
        self._exact = {served.name: served for served in every if "*" not in served.name}
        wild = [served for served in every if "*" in served.name]
        self._wild = sorted(wild, key=lambda served: -len(served.name.replace("*", "")))

    def find(self, name: str) -> Served | None:
        """The model that serves this name."""
        found = self._exact.get(name)
        if found is not None:
            return found
        for served in self._wild:
            if matches(name, served.name):
                return served
        return None

    def names(self) -> list[str]:
        """The exact names, as they are listed."""
        return list(self._exact)


def catalog(models: Mapping[str, model.Model], upstreams: Mapping[str, Upstream]) -> Catalog:
    """The catalog of a config whose names have all been checked."""

    def targets(name: str, asked: str = "") -> tuple[Target, ...]:
        return tuple(
            upstreams[target.upstream].target(
                target.model or asked, target.weight, f"{name} {target.model}"
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
        Served(
            name,
            targets(name),
            tuple(t for below in fallbacks(name, {}) for t in targets(below, below)),
        )
        for name in models
    )
