"""What a newer catalog of providers changes: models that come and go, prices, and other facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import asdict

from engine.config.catalog_updates import Catalog
from engine.config.providers import Provider, ProviderModel

_FACTS = ("tasks", "context", "output", "input", "capabilities", "deprecated")


class CatalogChange(Struct, frozen=True):
    """A change of a `model` of a provider. `kind` is `added`, `removed`, `price` or `fact`, `key`
    what of it changes. Of prices, `percent` is how much the new one is above the old one, None if
    that was 0 or unknown."""

    model: str
    kind: str
    key: str = ""
    old: object = None
    new: object = None
    percent: float | None = None

    @property
    def fields(self) -> dict[str, object]:
        """Its fields by name."""
        return asdict(self)


class ProviderChanges(Struct, frozen=True):
    """The changes of one provider, and its dates (ISO 8601) before and after."""

    name: str
    old_date: str
    new_date: str
    changes: tuple[CatalogChange, ...]


def catalog_differences(
    before: Catalog, after: Catalog, names: Iterable[str]
) -> Iterator[ProviderChanges]:
    """The providers of these names that differ."""
    for name in names:
        old, new = before.read(name), after.read(name)
        changes = (*_batch(old, new), *_models(old, new))
        if changes or old.date != new.date:
            yield ProviderChanges(name, str(old.date), str(new.date), changes)


def _batch(old: Provider, new: Provider) -> Iterator[CatalogChange]:
    if old.batch != new.batch:
        yield _price("", "batch", old.batch, new.batch)


def _models(old: Provider, new: Provider) -> Iterator[CatalogChange]:
    for name in dict.fromkeys([*old.models, *new.models]):
        if name not in new.models:
            yield CatalogChange(name, "removed", old=dict(old.models[name].price or {}))
        elif name not in old.models:
            yield CatalogChange(name, "added", new=dict(new.models[name].price or {}))
        else:
            yield from _of_model(old.models[name], new.models[name])


def _of_model(old: ProviderModel, new: ProviderModel) -> Iterator[CatalogChange]:
    was, now = old.price or {}, new.price or {}
    for key in dict.fromkeys([*was, *now]):
        if was.get(key) != now.get(key):
            yield _price(old.name, key, was.get(key), now.get(key))
    for key in _FACTS:
        if getattr(old, key) != getattr(new, key):
            yield CatalogChange(old.name, "fact", key, getattr(old, key), getattr(new, key))


def _price(model: str, key: str, old: object, new: object) -> CatalogChange:
    percent = None
    if isinstance(old, int | float) and isinstance(new, int | float) and old:
        percent = round((new / old - 1) * 100, 1)
    return CatalogChange(model, "price", key, old, new, percent)
