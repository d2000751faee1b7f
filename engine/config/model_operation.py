"""An operation that is routed by model."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from engine.config.upstreams import UpstreamConfig
from engine.values.units import format_names

_MAX_NAMES = 8


class ModelOperation(Struct, frozen=True):
    """An operation that is routed by model; `id` is `spec.operationId`, `path` its template.
    `language` is the language of its requests, "" if they are never translated. An operation that
    counts tokens has in `counts` the language of the requests that it counts, others "". `task` is
    the task that a model must have, as in `ProviderModel.tasks`; "" for any."""

    id: str
    dialect: str
    path: str = ""
    language: str = ""
    counts: str = ""
    task: str = ""

    def accepts_dialect(self, dialect: str) -> bool:
        """Whether an upstream of this dialect accepts it; dialect "" accepts every operation."""
        return dialect in ("", self.dialect)

    def is_missing(self, upstream: UpstreamConfig) -> bool:
        """Whether it is of the upstream's dialect, but the upstream is missing its path."""
        return self.accepts_dialect(upstream.dialect) and any(
            self.path.endswith(path) or f"{path}/" in self.path for path in upstream.missing_paths
        )


def join_operation_names(operations: Iterable[ModelOperation]) -> str:
    """The names of operations for a sentence: `a.b, a.c and 3 more`; "no operation" for none."""
    names = [operation.id for operation in operations]
    if not names:
        return "no operation"
    if len(names) > _MAX_NAMES:
        return format_names(names, _MAX_NAMES)
    *first_names, last = names
    return f"{', '.join(first_names)} and {last}" if first_names else last
