"""The operations of each model, for routing, model lists, pages, `routes` and `explain`.

The law: a model has an operation that is routed by model if its `operations` match it (or are
absent) and one of its targets speaks the operation's dialect. It also has every chat operation if
its `operations` match one (or are absent) and requests may be translated for one of its targets.
The targets of a fallback count as well, as far as the `operations` of the fallback allow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine.config.models import Model
from engine.config.upstreams import UpstreamConfig
from engine.values.wildcard import Patterns


@dataclass(frozen=True, slots=True)
class ModelOperation:
    """An operation that is routed by model; `id` is `spec.operationId`, `path` its template.
    `language` is the language of chat that it has, "" for an operation that is no chat."""

    id: str
    dialect: str
    path: str = ""
    language: str = ""

    def accepts_dialect(self, dialect: str) -> bool:
        """Whether an upstream of this dialect takes it; the dialect "" takes any operation."""
        return dialect in ("", self.dialect)


_NO_LANGUAGES: Mapping[str, Sequence[str]] = {}

_Link = tuple[tuple[str, ...], bool, frozenset[str]]
"""An entry in a chain of fallbacks: its `operations`, whether requests to it may be translated, and
the dialects of its upstreams."""


class ModelOperations:
    """The operations of each entry under `models`, out of `operations`: all that are routed by
    model, in the order of the routes. `languages` are the languages of chat of each dialect, the
    one to translate into first."""

    def __init__(
        self,
        models: Mapping[str, Model],
        upstreams: Mapping[str, UpstreamConfig],
        operations: Iterable[ModelOperation],
        languages: Mapping[str, Sequence[str]] = _NO_LANGUAGES,
    ) -> None:
        self._models = models
        self._upstreams = upstreams
        self.all = tuple(operations)
        self._languages = languages
        self._of: dict[tuple[_Link, ...], tuple[ModelOperation, ...]] = {}
        self._patterns = {m.operations: Patterns(m.operations) for m in models.values()}

    def of(self, entry: str) -> tuple[ModelOperation, ...]:
        """The operations of an entry, in the order of the routes."""
        chain = tuple(self._chain(entry))
        if chain not in self._of:  # most models share a chain of this form
            self._of[chain] = tuple(op for op in self.all if self._serves(chain, op))
        return self._of[chain]

    def language(self, entry: str, dialect: str, operation: ModelOperation) -> str | None:
        """The language into which an operation is translated for a target under this entry, at an
        upstream of this dialect: "" if the target takes it as it is, None if it does not take it.
        """
        return self._language(self._link(entry), dialect, operation)

    def _serves(self, chain: tuple[_Link, ...], operation: ModelOperation) -> bool:
        names, may_translate, _ = chain[0]
        chats = may_translate and operation.language and self._chat_operations(names)
        if not (chats or self._allows(names, operation)):
            return False
        return any(
            self._language(link, dialect, operation) is not None
            for link in chain
            for dialect in link[2]
        )

    def _language(self, link: _Link, dialect: str, operation: ModelOperation) -> str | None:
        names, may_translate, _ = link
        if operation.accepts_dialect(dialect) and self._allows(names, operation):
            return ""
        if not (may_translate and operation.language):
            return None
        chats = self._chat_operations(names)
        if names and not chats:
            return None
        named = [each.language for each in chats if each.dialect == dialect] if names else []
        languages = [name for name in self._languages.get(dialect, ()) if name in (named or [name])]
        return next((name for name in languages if name != operation.language), None)

    def _chat_operations(self, names: tuple[str, ...]) -> list[ModelOperation]:
        """The chat operations that the `operations` of an entry allow."""
        return [each for each in self.all if each.language and self._allows(names, each)]

    def _allows(self, names: tuple[str, ...], operation: ModelOperation) -> bool:
        return not names or self._patterns[names].match(operation.id)

    def _link(self, entry: str) -> _Link:
        model = self._models[entry]
        dialects = frozenset(self._upstreams[target.upstream].dialect for target in model.to)
        return model.operations, model.translate != "off", dialects

    def _chain(self, entry: str) -> Iterator[_Link]:
        """The entry, its fallbacks and theirs, once each."""
        queue, visited = [entry], set()
        while queue:
            name = queue.pop(0)
            if name not in visited:
                visited.add(name)
                yield self._link(name)
                queue += self._models[name].fallback


def join_operation_names(operations: Iterable[ModelOperation], limit: int = 8) -> str:
    """The names of operations for a sentence: `a.b, a.c and 3 more`; "no operation" for none."""
    names = [operation.id for operation in operations]
    if not names:
        return "no operation"
    if len(names) > limit:
        return f"{', '.join(names[:limit])} and {len(names) - limit} more"
    *first_names, last = names
    return f"{', '.join(first_names)} and {last}" if first_names else last
