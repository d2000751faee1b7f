"""The models that lists show: those of the config by name, and what the providers behind its
wildcards have.

The law: a provider's model is listed if a request for it reaches the wildcard (no other entry takes
the name), and every target there that has no name of its own for it is at a provider that has it.
Under `groq/*` with the target `{upstream: groq, model: "*"}` its name has the prefix. The models of
the config come first, then those of the wildcards in the order of the file, each sorted by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from engine.config import providers
from engine.config.config import Config
from engine.config.model_operations import ModelOperation, ModelOperations
from engine.config.models import STAR, Model, TargetConfig
from engine.config.providers import ProviderModel
from engine.config.upstreams import UpstreamConfig
from engine.values.wildcard import ByName, matches, star_text


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model by its name, the entry of `models` that serves it, and what its provider says of it,
    None for a model that the config names. `context` and `output` are the most tokens that every
    target takes and answers with, as far as known."""

    name: str
    entry: Model
    known: ProviderModel | None = None
    context: int | None = None
    output: int | None = None

    @property
    def title(self) -> str:
        """The title of its entry; its name under a wildcard."""
        return self.entry.title if self.known is None else self.name

    def operations(self, operations: ModelOperations) -> tuple[ModelOperation, ...]:
        """Its operations: those of its entry, for the tasks that it is known to have."""
        has = operations.of(self.entry.name)
        if self.known is None:
            return has
        return tuple(op for op in has if op.task in ("", *self.known.tasks))


def listed_models(config: Config) -> dict[str, ListedModel]:
    """All models that lists show, by name."""
    result = {
        name: listed_model(name, entry, config)
        for name, entry in config.models.items()
        if "*" not in name
    }
    wildcards = [entry for name, entry in config.models.items() if "*" in name]
    entries = ByName(config.models) if wildcards else None
    for entry in wildcards:
        for name in _known(entry, config.upstreams):
            if name not in result and entries and entries.find(name) is entry:
                result[name] = listed_model(name, entry, config)
    return result


def listed_model(name: str, entry: Model, config: Config) -> ListedModel:
    """The model of this name that an entry serves, also one that no list shows."""
    targets = [_known_of(name, entry, target, config.upstreams) for target in entry.to]
    facts = [known for known in targets if known is not None]
    limits = (
        [known.context for known in facts if known.context],
        [known.output for known in facts if known.output],
    )
    context, output = (min(each) if len(each) == len(targets) else None for each in limits)
    known = facts[0] if facts and "*" in entry.name else None
    return ListedModel(name, entry, known, context, output)


def _known_of(
    name: str, entry: Model, target: TargetConfig, upstreams: Mapping[str, UpstreamConfig]
) -> ProviderModel | None:
    """What a target's provider says of the model that callers ask for by this name."""
    own = star_text(name, entry.name) if target.model == STAR else target.model or name
    return _models(target, upstreams).get(own)


def _known(entry: Model, upstreams: Mapping[str, UpstreamConfig]) -> Iterator[str]:
    """The names that a wildcard can list."""
    targets = [target for target in entry.to if target.model in ("", STAR)]
    first, *others = [_named(target, entry, upstreams) for target in targets] or [{}]
    for name in sorted(first):
        if all(name in catalog for catalog in others) and not first[name].deprecated:
            yield name


def _named(
    target: TargetConfig, entry: Model, upstreams: Mapping[str, UpstreamConfig]
) -> dict[str, ProviderModel]:
    """The models of a target by the names that callers have for them."""
    models = _models(target, upstreams)
    if target.model == STAR:
        return {entry.name.replace("*", name): model for name, model in models.items()}
    return {name: model for name, model in models.items() if matches(name, entry.name)}


def _models(
    target: TargetConfig, upstreams: Mapping[str, UpstreamConfig]
) -> Mapping[str, ProviderModel]:
    """The models of a target's provider; none where their names are the operator's."""
    upstream = upstreams[target.upstream]
    provider = providers.read(upstream.provider) if upstream.provider else None
    return {} if provider is None or provider.own_names else provider.models
