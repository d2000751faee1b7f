"""The lists of models that the gateway itself responds with (`answers/models.py`).

A list has the models that can be called in the caller's dialect and that the token may use. It is
made once for each dialect and set of models, not for each request.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter

import orjson
from cachetools import LRUCache, cachedmethod

from engine.config.config import Config
from engine.config.listed_models import ListedModel, listed_model
from engine.config.model_operation import ModelOperation
from engine.config.operations_by_model import ModelOperations
from engine.dialects import Dialect, ModelCard, ModelList
from engine.process.loop_turn import paced
from engine.source.suggestion import Suggestions
from engine.values.caller import AllowLists, Caller
from engine.values.wildcard import ByName, Patterns

_SCOPES = 64
_BYTES = 16_000_000


class VisibleModels:
    """The model lists of a worker, in all dialects. A model is in the lists of the dialects of its
    `operations`. `listed` are all models that lists show."""

    def __init__(
        self, config: Config, operations: ModelOperations, listed: Mapping[str, ListedModel]
    ) -> None:
        self._config = config
        self._listed = listed
        self._operations = operations
        self._entries = ByName(config.models)
        self._dialects: dict[str, _DialectModels] = {}
        self._methods_of: dict[object, tuple[str, ...] | None] = {}
        self.lists: LRUCache[object, bytes] = LRUCache(_BYTES, len)
        self.suggestions = Suggestions(self._listed)

    @cachedmethod(
        attrgetter("lists"),
        key=lambda self, dialect, caller: (
            dialect.name,
            () if caller is None else caller.model_lists,
        ),
    )
    def whole_list(self, dialect: Dialect, caller: Caller | None) -> bytes:
        """The response without query parameters."""
        return orjson.dumps(dialect.models(self.listed(dialect, caller), {}))

    def listed(self, dialect: Dialect, caller: Caller | None) -> ModelList:
        """The models of a dialect that the caller may use, without wildcards."""
        return self._models_of(dialect).of(() if caller is None else caller.model_lists)

    def find(self, name: str, dialect: Dialect) -> ModelCard | None:
        """The model of this name, even if a wildcard serves it; None if it cannot be called in this
        dialect."""
        model = self._model(name)
        return None if model is None else self._card(model, dialect)

    def operations_of(self, name: str) -> Sequence[ModelOperation] | None:
        """The operations of a model, even if a wildcard serves it; None if it does not exist."""
        model = self._model(name)
        return None if model is None else model.operations(self._operations)

    def _model(self, name: str) -> ListedModel | None:
        """The model of this name, even if it is in no list."""
        if name in self._listed:
            return self._listed[name]
        entry = self._entries.find(name)
        return None if entry is None else listed_model(name, entry, self._config)

    def _card(self, model: ListedModel, dialect: Dialect) -> ModelCard | None:
        methods = self._methods(model, dialect)
        if methods is None:
            return None
        entry = model.entry
        title = model.name if model.title == entry.name else model.title
        return ModelCard(
            model.name,
            title,
            entry.owner,
            entry.created,
            methods,
            model.context,
            model.output,
        )

    def _methods(self, model: ListedModel, dialect: Dialect) -> tuple[str, ...] | None:
        """The custom methods of a model in this dialect, None if it has no operations there. Cached
        by group: thousands of models may have the same thousands of operations."""
        tasks = None if model.provider_model is None else tuple(model.provider_model.tasks)
        key = dialect.name, self._operations.group(model.entry.name), tasks
        if key not in self._methods_of:
            operations = model.operations(self._operations)
            paths = [op.path for op in operations if op.accepts_dialect(dialect.name)]
            methods = dict.fromkeys(filter(None, map(_method, paths)))
            self._methods_of[key] = tuple(methods) if paths else None
        return self._methods_of[key]

    def _models_of(self, dialect: Dialect) -> _DialectModels:
        entry = self._dialects.get(dialect.name)
        if entry is None:
            cards = (self._card(model, dialect) for model in paced(self._listed.values()))
            entry = _DialectModels((card for card in cards if card is not None), dialect)
            self._dialects[dialect.name] = entry
        return entry


def _method(path: str) -> str:
    """The custom method at the end of a path: `/models/{model}:countTokens` -> `countTokens`."""
    return path.rpartition("/")[2].partition(":")[2]


class _DialectModels:
    """The models of one dialect, each rendered once, and the most recent lists by scope."""

    def __init__(self, cards: Iterable[ModelCard], dialect: Dialect) -> None:
        names, documents = [], []
        for card in cards:
            names.append(card.name)
            # As str, because the bytes from orjson keep its buffer alive: kilobytes for each model.
            documents.append(orjson.Fragment(orjson.dumps(dialect.model(card)).decode()))
        self._all = ModelList(names, documents)
        self._list = lru_cache(_SCOPES)(self._create)

    def of(self, scope: AllowLists) -> ModelList:
        return self._list(scope) if scope else self._all

    def _create(self, scope: AllowLists) -> ModelList:
        models, lists = self._all, [Patterns(names) for names in scope]
        indexes = [
            index
            for index, name in enumerate(models.names)
            if all(allowed.match(name) for allowed in lists)
        ]
        names = [models.names[index] for index in indexes]
        return ModelList(names, [models.documents[index] for index in indexes])
