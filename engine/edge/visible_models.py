"""The models that callers are shown: of each dialect those that can be called in it, of each token
those it may use. Lists are made once for each, not for each request."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cached_property

import orjson

from engine.config.config import Config
from engine.config.model_operations import ModelOperation, ModelOperations
from engine.config.models import Model
from engine.dialects import Dialect, ModelCard, ModelList
from engine.source.suggestion import Suggestions
from engine.values.caller import Caller
from engine.values.wildcard import ByName, Patterns

Scope = tuple[str, ...] | None
"""The models of a token: names and wildcards, or None for all."""

_SCOPES = 64
_BYTES = 16_000_000


class VisibleModels:
    """What a worker's lists of models show, in all dialects. `operations` says which operations a
    model has: it is shown in the dialects of those."""

    def __init__(self, config: Config, operations: ModelOperations) -> None:
        self._models = config.models
        self._operations = operations
        self._entries = ByName(config.models)
        self._dialects: dict[str, _Shown] = {}
        self.answers = Answers(_BYTES)
        self.suggestions = Suggestions(name for name in config.models if "*" not in name)

    def listed(self, dialect: Dialect, caller: Caller | None) -> ModelList:
        """The models of a dialect that the caller may use, wildcards left out."""
        return self._shown(dialect).of(None if caller is None else caller.models)

    def find(self, name: str, dialect: Dialect) -> ModelCard | None:
        """The model of this name, also one that a wildcard serves; None for one that cannot be
        called in this dialect."""
        entry = self._entries.find(name)
        return None if entry is None else self._card(entry, name, dialect)

    def operations_of(self, name: str) -> Sequence[ModelOperation] | None:
        """The operations of a model, also of one that a wildcard serves; None for no model."""
        entry = self._entries.find(name)
        return None if entry is None else self._operations.of(entry.name)

    def _card(self, entry: Model, name: str, dialect: Dialect) -> ModelCard | None:
        spoken = [op for op in self._operations.of(entry.name) if op.accepts_dialect(dialect.name)]
        if not spoken:
            return None
        title = name if entry.title == entry.name else entry.title
        methods = dict.fromkeys(method for op in spoken if (method := _method(op.path)))
        return ModelCard(name, title, entry.owner, entry.created, tuple(methods))

    def _shown(self, dialect: Dialect) -> _Shown:
        entry = self._dialects.get(dialect.name)
        if entry is None:
            exact = [model for model in self._models.values() if "*" not in model.name]
            cards = (self._card(model, model.name, dialect) for model in exact)
            entry = _Shown([card for card in cards if card is not None], dialect)
            self._dialects[dialect.name] = entry
        return entry


def _method(path: str) -> str:
    """The custom method that a path ends in: `/models/{model}:countTokens` -> `countTokens`."""
    return path.rpartition("/")[2].partition(":")[2]


class _Shown:
    """The models of one dialect, each rendered once, and the lists of the last scopes."""

    def __init__(self, cards: Sequence[ModelCard], dialect: Dialect) -> None:
        self._cards = cards
        self._dialect = dialect
        self._scopes: OrderedDict[Scope, ModelList] = OrderedDict()

    @cached_property
    def _all(self) -> ModelList:
        render = self._dialect.model
        documents = [orjson.Fragment(orjson.dumps(render(card))) for card in self._cards]
        return ModelList([card.name for card in self._cards], documents)

    def of(self, scope: Scope) -> ModelList:
        if scope is None:
            return self._all
        listed = self._scopes.get(scope)
        if listed is None:
            every, allowed = self._all, Patterns(scope)
            indexes = [index for index, name in enumerate(every.names) if allowed.match(name)]
            names = [every.names[index] for index in indexes]
            listed = ModelList(names, [every.documents[index] for index in indexes])
            self._scopes[scope] = listed
            if len(self._scopes) > _SCOPES:
                self._scopes.popitem(last=False)
        self._scopes.move_to_end(scope)
        return listed


class Answers:
    """An LRU cache of responses, of `size` bytes."""

    def __init__(self, size: int) -> None:
        self._left = size
        self._kept: OrderedDict[object, bytes] = OrderedDict()

    def get(self, key: object, make: Callable[[], bytes]) -> bytes:
        """The response of this key; `make` renders it if it is not cached."""
        body = self._kept.get(key)
        if body is None:
            body = self._kept[key] = make()
            self._left -= len(body)
            while self._left < 0:
                _, oldest = self._kept.popitem(last=False)
                self._left += len(oldest)
        else:
            self._kept.move_to_end(key)
        return body
