"""The operations of each model, for routing, model lists, pages, `routes` and `explain`.

The law: a model has an operation that is routed by model if its `operations` match it (or are
absent) and one of its targets speaks the operation's dialect. The targets of a fallback count as
well, unless the `operations` of the fallback exclude the operation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from engine.config.models import Model
from engine.config.upstreams import UpstreamConfig
from engine.values.wildcard import Patterns


@dataclass(frozen=True, slots=True)
class ModelOperation:
    """An operation that is routed by model; `id` is `spec.operationId`, `path` its template."""

    id: str
    dialect: str
    path: str = ""

    def accepts_dialect(self, dialect: str) -> bool:
        """Whether an upstream of this dialect takes it; the dialect "" takes any operation."""
        return dialect in ("", self.dialect)


_Link = tuple[tuple[str, ...], frozenset[str]]
"""An entry in a chain of fallbacks: its `operations`, the dialects of its upstreams."""


class ModelOperations:
    """The operations of each entry under `models`, out of `operations`: all that are routed by
    model, in the order of the routes."""

    def __init__(
        self,
        models: Mapping[str, Model],
        upstreams: Mapping[str, UpstreamConfig],
        operations: Iterable[ModelOperation],
    ) -> None:
        self._models = models
        self._upstreams = upstreams
        self.all = tuple(operations)
        self._of: dict[tuple[_Link, ...], tuple[ModelOperation, ...]] = {}
        self._patterns = {m.operations: Patterns(m.operations) for m in models.values()}

    def of(self, entry: str) -> tuple[ModelOperation, ...]:
        """The operations of an entry, in the order of the routes."""
        chain = tuple(self._chain(entry))
        if chain not in self._of:  # most models share a chain of this form
            self._of[chain] = tuple(op for op in self.all if self._serves(chain, op))
        return self._of[chain]

    def accepts(self, entry: str, dialect: str, operation: ModelOperation) -> bool:
        """Whether a target under this entry, at an upstream of this dialect, takes an operation."""
        return operation.accepts_dialect(dialect) and self._allows(
            self._models[entry].operations, operation
        )

    def _serves(self, chain: tuple[_Link, ...], operation: ModelOperation) -> bool:
        if not self._allows(chain[0][0], operation):
            return False
        return any(
            self._allows(names, operation) and any(map(operation.accepts_dialect, dialects))
            for names, dialects in chain
        )

    def _allows(self, names: tuple[str, ...], operation: ModelOperation) -> bool:
        return not names or self._patterns[names].match(operation.id)

    def _chain(self, entry: str) -> Iterator[_Link]:
        """The entry, its fallbacks and theirs, once each."""
        queue, visited = [entry], set()
        while queue:
            name = queue.pop(0)
            if name not in visited:
                visited.add(name)
                model = self._models[name]
                dialects = frozenset(self._upstreams[t.upstream].dialect for t in model.to)
                yield model.operations, dialects
                queue += model.fallback


def join_operation_names(operations: Iterable[ModelOperation], limit: int = 8) -> str:
    """The names of operations for a sentence: `a.b, a.c and 3 more`; "no operation" for none."""
    names = [operation.id for operation in operations]
    if not names:
        return "no operation"
    if len(names) > limit:
        return f"{', '.join(names[:limit])} and {len(names) - limit} more"
    *first_names, last = names
    return f"{', '.join(first_names)} and {last}" if first_names else last
