"""Which operations a model has: the one answer for routing, lists, pages, `routes` and `explain`.

The law: an entry under `models` has an operation that is routed by model, if its `operations` name
it (or it has none) and one of its targets speaks the operation's dialect; the targets of a
fallback count likewise, unless the fallback's own `operations` leave the operation out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from engine.config.models import Model
from engine.config.upstreams import Upstream
from engine.values.wildcard import Patterns


@dataclass(frozen=True, slots=True)
class ModelOperation:
    """An operation that is routed by model; `id` is `spec.operationId`, `path` its template."""

    id: str
    dialect: str
    path: str = ""

    def spoken_by(self, dialect: str) -> bool:
        """Whether an upstream of this dialect takes it; "" speaks as what is routed to it."""
        return dialect in ("", self.dialect)


_Link = tuple[tuple[str, ...], frozenset[str]]
"""What an entry adds to a chain of fallbacks: its `operations`, its upstreams' dialects."""


class ModelOperations:
    """The operations of each entry under `models`, out of `operations`: all that are routed by
    model, in the order of the routes."""

    def __init__(
        self,
        models: Mapping[str, Model],
        upstreams: Mapping[str, Upstream],
        operations: Iterable[ModelOperation],
    ) -> None:
        self._models = models
        self._upstreams = upstreams
        self.all = tuple(operations)
        self._of: dict[tuple[_Link, ...], tuple[ModelOperation, ...]] = {}
        self._named = {m.operations: Patterns(m.operations) for m in models.values()}

    def of(self, entry: str) -> tuple[ModelOperation, ...]:
        """The operations of an entry, in the order of the routes."""
        chain = tuple(self._chain(entry))
        found = self._of.get(chain)
        if found is None:  # few models differ in this
            found = self._of[chain] = tuple(op for op in self.all if self._serves(chain, op))
        return found

    def takes(self, entry: str, dialect: str, operation: ModelOperation) -> bool:
        """Whether a target under this entry, at an upstream of this dialect, takes an operation."""
        return operation.spoken_by(dialect) and self._allows(
            self._models[entry].operations, operation
        )

    def _serves(self, chain: tuple[_Link, ...], operation: ModelOperation) -> bool:
        if not self._allows(chain[0][0], operation):
            return False
        return any(
            self._allows(named, operation) and any(map(operation.spoken_by, dialects))
            for named, dialects in chain
        )

    def _allows(self, named: tuple[str, ...], operation: ModelOperation) -> bool:
        return not named or self._named[named].match(operation.id)

    def _chain(self, entry: str) -> Iterator[_Link]:
        """The entry, its fallbacks and theirs, once each."""
        waiting, seen = [entry], set()
        while waiting:
            name = waiting.pop(0)
            if name not in seen:
                seen.add(name)
                model = self._models[name]
                dialects = frozenset(self._upstreams[t.upstream].dialect for t in model.to)
                yield model.operations, dialects
                waiting += model.fallback


def listed(operations: Iterable[ModelOperation], most: int = 8) -> str:
    """The operations by name, for a sentence: `a.b, a.c and 3 more`; "no operation" for none."""
    names = [operation.id for operation in operations]
    if not names:
        return "no operation"
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    *rest, last = names
    return f"{', '.join(rest)} and {last}" if rest else last
