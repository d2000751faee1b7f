"""The models that callers may ask for, with their targets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from engine.config.models import STAR, Model
from engine.source.suggestion import Suggestions
from engine.upstream.candidates import order
from engine.upstream.target import Target, Upstream
from engine.values.wildcard import ByName, covered


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model with its own targets as the first of its `groups`, then those of each fallback. One
    group is tried after another, the targets of each by weight. It `shortens` names if a target has
    STAR as its name for the model."""

    name: str
    groups: tuple[tuple[Target, ...], ...]
    shortens: bool = False

    def candidates(self, dice: Callable[[], float], name: str) -> list[Target]:
        """All targets for a requested name in the order in which they are tried."""
        targets = [target for group in self.groups for target in order(group, dice)]
        if not self.shortens:
            return targets
        model = covered(name, self.name)
        return [replace(t, model=model) if t.model == STAR else t for t in targets]

    def for_operation(self, language: Callable[[Target], str | None]) -> ServedModel:
        """The model with the targets that take an operation. `language` is the language into which
        requests are translated for a target, "" for none, None if it does not take them: in each
        group the targets that get requests as they are come first."""
        groups: list[tuple[Target, ...]] = []
        for group in self.groups:
            languages = [(target, language(target)) for target in group]
            groups.append(tuple(target for target, name in languages if name == ""))
            groups.append(tuple(target for target, name in languages if name))
        return replace(self, groups=tuple(group for group in groups if group))


class Catalog(ByName[ServedModel]):
    """Models by name: an exact name first, then the wildcard with the most literal characters."""

    def __init__(self, models: Iterable[ServedModel], listed: Iterable[str] = ()) -> None:
        super().__init__({model.name: model for model in models})
        self.suggestions = Suggestions({*self.names(), *listed})


def build_catalog(
    models: Mapping[str, Model], upstreams: Mapping[str, Upstream], listed: Iterable[str] = ()
) -> Catalog:
    """The catalog of a config in which every name is resolved. `listed` are the names that lists
    show, also of models behind a wildcard."""

    def targets(name: str, default_model: str = "") -> tuple[Target, ...]:
        return tuple(
            upstreams[target.upstream].target(
                target.model or default_model,
                target.weight,
                target.model,
                name,
                target.transform,
            )
            for target in models[name].to
        )

    def fallbacks(name: str, names: dict[str, None]) -> dict[str, None]:
        for fallback in models[name].fallback:
            if fallback not in names:
                names[fallback] = None
                fallbacks(fallback, names)
        return names

    served = (
        ServedModel(
            name,
            (targets(name), *(targets(fallback, fallback) for fallback in fallbacks(name, {}))),
            any(target.model == STAR for target in models[name].to),
        )
        for name in models
    )
    return Catalog(served, listed)
