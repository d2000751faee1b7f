"""Checks transforms of upstreams and targets against the documents, with warnings: an upstream may
need fields that no document describes. Those of providers, which are shipped, are not checked.

The edited request is in the upstream's dialect: the caller's request where it is relayed, or a
request of the target's language where it is translated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from msgspec.structs import replace

from engine.config.models import TargetConfig
from engine.config.transforms import TransformConfig
from engine.plan.checks.body_edits import BodyEditCheck, Rules, note_faults
from engine.plan.checks.caller_transforms import (
    RESPONSES,
    DocumentedOperation,
    check_parameters,
    documented_operation,
    documented_route,
)
from engine.plan.plan import ServedConfig
from engine.source.problem import Findings, Level, Path
from engine.transforms.compile import compile_transform
from engine.transforms.faults import UPSTREAM_ADDED, UPSTREAM_NO_PLACE, UPSTREAM_UNFIT, Faults
from engine.translations import language_of

_REQUESTS = Rules(
    "request",
    UPSTREAM_NO_PLACE,
    UPSTREAM_UNFIT,
    "",
    Level.WARNING,
    f"if the upstream does have it, write `# modelway: ignore {UPSTREAM_NO_PLACE}`",
    UPSTREAM_ADDED,
)


@dataclass(slots=True)
class _Scope:
    """A transform and the operations whose requests it edits, by name. `is_open`: some requests are
    in a language that no document describes."""

    transform: TransformConfig
    operations: dict[str, DocumentedOperation] = field(default_factory=dict)
    is_open: bool = False


def check_upstream_transforms(served: ServedConfig, findings: Findings) -> None:
    """Note edits of upstreams and targets that fit no operation whose requests they change."""
    for scope in _Scopes(served).find().values():
        compiled = compile_transform(scope.transform, upstream=True, faults=Faults())
        operations = list(scope.operations.values())
        for rules in (_REQUESTS, RESPONSES):
            faults = Faults()
            bodies = [
                each.requests if rules is _REQUESTS else each.responses for each in operations
            ]
            side = compiled.request if rules is _REQUESTS else compiled.response
            BodyEditCheck(bodies, rules, faults, is_open=scope.is_open).run(side.body)
            for operation in operations if rules is _REQUESTS else ():
                check_parameters(compiled.request, operation, rules, faults)
            note_faults(scope.transform, faults, rules.level, served.config, findings)


class _Scopes:
    """The operations whose requests each transform of an upstream or a target edits."""

    def __init__(self, served: ServedConfig) -> None:
        self._routes = served.routes
        self._by_id = {route.operation.id: route for route in served.routes}
        self._operations = served.operations
        self._config = served.config
        self._specifications = served.specifications
        self._scopes: dict[Path, _Scope] = {}
        self._documented: dict[str, DocumentedOperation] = {}
        self._languages: dict[tuple[int, str], dict[str, str]] = {}

    def find(self) -> Mapping[Path, _Scope]:
        """The transforms by their places."""
        for route in self._routes:
            for target in route.to:
                for scope in self._of(target):
                    scope.operations[route.operation.id] = self._relayed(route.operation.id)
        for model in self._config.models.values():
            for target in model.targets:
                for scope in self._of(target):
                    dialect = self._config.upstreams[target.upstream].dialect
                    for id_, language in self._served(model.name, dialect).items():
                        self._add(scope, id_, language)
        return self._scopes

    def _of(self, target: TargetConfig) -> Iterator[_Scope]:
        upstream = self._config.upstreams[target.upstream]
        for transform in (*upstream.transform, *target.transform):
            if transform.at[-1] != "provider":
                yield self._scopes.setdefault(transform.at, _Scope(transform))

    def _served(self, entry: str, dialect: str) -> Mapping[str, str]:
        """The operations that targets of an entry take, with the language into which their requests
        are translated, "" for those that are relayed. Most entries have those of many others."""
        key = self._operations.group(entry), dialect
        if key not in self._languages:
            languages = {
                each.id: self._operations.language(entry, dialect, each)
                for each in self._operations.of(entry)
                if each.id in self._by_id
            }
            self._languages[key] = {
                id_: name for id_, name in languages.items() if name is not None
            }
        return self._languages[key]

    def _add(self, scope: _Scope, id_: str, language: str) -> None:
        if not language:
            scope.operations[id_] = self._relayed(id_)
            return
        described = self._documents.get(language, {})
        scope.operations |= {id_: p for id_, p in described.items() if id_ not in scope.operations}
        scope.is_open = scope.is_open or not described

    def _relayed(self, id_: str) -> DocumentedOperation:
        """An operation whose requests are sent as they are; their model may be renamed."""
        if id_ not in self._documented:
            route = self._by_id[id_]
            documented = documented_route(route, self._specifications[route.operation.spec])
            requests = replace(documented.requests, models=())
            self._documented[id_] = replace(documented, requests=requests, models=())
        return self._documented[id_]

    @cached_property
    def _documents(self) -> Mapping[str, Mapping[str, DocumentedOperation]]:
        """The operations of each language that the documents describe, routed or not."""
        described: dict[str, dict[str, DocumentedOperation]] = {}
        for name, specification in self._specifications.items():
            dialect = self._config.specs[name].dialect
            for operation in specification.operations.values():
                language = language_of(dialect, operation.path)
                if language is not None:
                    documented = documented_operation(operation, specification)
                    described.setdefault(language.name, {})[operation.id] = documented
        return described
