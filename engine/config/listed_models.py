"""The models in model lists: those that the config names, and under its wildcards those that the
providers have.

The law: a provider's model is listed if a request for it reaches the wildcard entry (no other entry
takes the name), and each of the entry's targets without a fixed model name is at a provider that
has the model. Under `groq/*` with the target `{upstream: groq, model: "*"}` its name has the
prefix. The models of the config come first, then those of the wildcards in the order of the file,
each sorted by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from engine.config.config import Config
from engine.config.model_operation import ModelOperation
from engine.config.models import STAR, Model, TargetConfig
from engine.config.operations_by_model import ModelOperations
from engine.config.providers import ProviderModel
from engine.values.wildcard import ByName, matches, star_text


class ListedModel(Struct, frozen=True):
    """A model by its name, the entry of `models` that serves it, and the provider's facts about it;
    None for a model that the config names. `context` and `output` are the most tokens that every
    target accepts and generates, `input` the media that every target takes; None if unknown."""

    name: str
    entry: Model
    provider_model: ProviderModel | None = None
    context: int | None = None
    output: int | None = None
    input: tuple[str, ...] | None = None

    @property
    def title(self) -> str:
        """The title of its entry; under a wildcard its name."""
        return self.entry.title if self.provider_model is None else self.name

    def operations(self, operations: ModelOperations) -> tuple[ModelOperation, ...]:
        """The operations of its entry; under a wildcard only those for its tasks."""
        entry_operations = operations.of(self.entry.name)
        if self.provider_model is None:
            return entry_operations
        tasks = ("", *self.provider_model.tasks)
        return tuple(op for op in entry_operations if op.task in tasks)


class ListedModels(Mapping[str, ListedModel]):
    """All models that lists show, by name. Each is made when it is read: 10,000 take 15 ms, and
    would hold 0.7 MB in each worker, for lists that it makes once."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._entries = {name: entry for name, entry in config.models.items() if "*" not in name}
        wildcards = [entry for name, entry in config.models.items() if "*" in name]
        entries = ByName(config.models) if wildcards else None
        for entry in wildcards:
            for name in _listable_names(entry, config):
                if name not in self._entries and entries and entries.find(name) is entry:
                    self._entries[name] = entry

    def __getitem__(self, name: str) -> ListedModel:
        return listed_model(name, self._entries[name], self._config)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def listed_model(name: str, entry: Model, config: Config) -> ListedModel:
    """The model of this name that an entry serves, even one that is in no list."""
    facts = [_provider_model(name, entry, target, config) for target in entry.answering]
    models = [model for model in facts if model is not None]
    limits = (
        [model.context for model in models if model.context],
        [model.output for model in models if model.output],
    )
    context, output = (min(sizes) if len(sizes) == len(facts) else None for sizes in limits)
    media = models[0].input if models and len(models) == len(facts) else None
    if media is not None:
        media = tuple(kind for kind in media if all(kind in model.input for model in models))
    provider_model = models[0] if models and "*" in entry.name else None
    return ListedModel(name, entry, provider_model, context, output, media)


def _provider_model(
    name: str, entry: Model, target: TargetConfig, config: Config
) -> ProviderModel | None:
    """The facts of a target's provider about the model that callers request by this name."""
    upstream_name = star_text(name, entry.name) if target.model == STAR else target.model or name
    return _models(target, config).get(upstream_name)


def _listable_names(entry: Model, config: Config) -> Iterator[str]:
    """The names that a wildcard can list."""
    targets = [target for target in entry.to if target.model in ("", STAR)]
    first, *others = [_models_by_name(target, entry, config) for target in targets] or [{}]
    for name in sorted(first):
        if all(name in catalog for catalog in others) and not first[name].deprecated:
            yield name


def _models_by_name(target: TargetConfig, entry: Model, config: Config) -> dict[str, ProviderModel]:
    """The models of a target by the names under which callers request them."""
    models = _models(target, config)
    if target.model == STAR:
        return {entry.name.replace("*", name): model for name, model in models.items()}
    return {name: model for name, model in models.items() if matches(name, entry.name)}


def _models(target: TargetConfig, config: Config) -> Mapping[str, ProviderModel]:
    """The models of a target's provider; none if operators name the models themselves."""
    upstream = config.upstreams[target.upstream]
    provider = config.catalog.read(upstream.provider) if upstream.provider else None
    return {} if provider is None or provider.own_names else provider.models
