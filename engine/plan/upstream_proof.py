"""Proves the transforms of upstreams and targets against the documents, with warnings: an upstream
may want what no document says. Those of providers, which are shipped, are not proved.

The request that is edited is one of the upstream's dialect: the caller's where it is relayed, and
where it is translated one of the language that it is translated into.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from engine.config.config import Config
from engine.config.model_operations import ModelOperations
from engine.config.models import TargetConfig
from engine.config.transforms import TransformConfig
from engine.plan.body_proof import BodyProof, Rules, note_faults
from engine.plan.route import Route
from engine.plan.transform_proof import (
    RESPONSES,
    ProvedOperation,
    prove_parameters,
    proved_operation,
    proved_route,
)
from engine.source.problem import Findings, Level, Path
from engine.spec.spec import Specification
from engine.transforms.compile import compile_transform
from engine.transforms.faults import UPSTREAM_ADDED, UPSTREAM_NO_PLACE, UPSTREAM_UNFIT, Faults
from engine.translations import language_of

_REQUESTS = Rules(
    "request",
    UPSTREAM_NO_PLACE,
    UPSTREAM_UNFIT,
    "",
    Level.WARNING,
    f"if the upstream has it all the same, write `# modelway: ignore {UPSTREAM_NO_PLACE}`",
    UPSTREAM_ADDED,
)


@dataclass(slots=True)
class _Edited:
    """A transform and the operations whose requests it edits, by name. `is_open`: some requests are
    in a language that no document describes."""

    transform: TransformConfig
    operations: dict[str, ProvedOperation] = field(default_factory=dict)
    is_open: bool = False


def prove_upstream_transforms(
    routes: Sequence[Route],
    operations: ModelOperations,
    config: Config,
    specifications: Mapping[str, Specification],
    findings: Findings,
) -> None:
    """Note what transforms of upstreams and targets edit that no operation has whose requests they
    get. `operations` are those of each model. Only for a config without errors."""
    reach = _Reach(routes, operations, config, specifications)
    for edited in reach.find().values():
        compiled = compile_transform(edited.transform, upstream=True, faults=Faults())
        served = list(edited.operations.values())
        for rules in (_REQUESTS, RESPONSES):
            faults = Faults()
            bodies = [each.requests if rules is _REQUESTS else each.responses for each in served]
            proof = BodyProof(bodies, rules, faults, is_open=edited.is_open)
            proof.edits(compiled.request.body if rules is _REQUESTS else compiled.response.body)
            for each in served if rules is _REQUESTS else ():
                prove_parameters(compiled.request, each, rules, faults)
            note_faults(edited.transform, faults, rules.level, config, findings)


class _Reach:
    """Which operations' requests each transform of an upstream or a target edits."""

    def __init__(
        self,
        routes: Sequence[Route],
        operations: ModelOperations,
        config: Config,
        specifications: Mapping[str, Specification],
    ) -> None:
        self._by_id = {route.operation.id: route for route in routes}
        self._operations = operations
        self._config = config
        self._specifications = specifications
        self._edited: dict[Path, _Edited] = {}
        self._proved: dict[str, ProvedOperation] = {}
        self._languages: dict[tuple[int, str], dict[str, str]] = {}

    def find(self) -> Mapping[Path, _Edited]:
        """The transforms by their places."""
        for route in self._by_id.values():
            for target in route.to:
                for edited in self._of(target):
                    edited.operations[route.operation.id] = self._relayed(route.operation.id)
        for model in self._config.models.values():
            for target in model.to:
                for edited in self._of(target):
                    dialect = self._config.upstreams[target.upstream].dialect
                    for id_, language in self._served(model.name, dialect).items():
                        self._add(edited, id_, language)
        return self._edited

    def _of(self, target: TargetConfig) -> Iterator[_Edited]:
        upstream = self._config.upstreams[target.upstream]
        for transform in (*upstream.transform, *target.transform):
            if transform.at[-1] != "provider":
                yield self._edited.setdefault(transform.at, _Edited(transform))

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

    def _add(self, edited: _Edited, id_: str, language: str) -> None:
        if not language:
            edited.operations[id_] = self._relayed(id_)
            return
        described = self._documents.get(language, {})
        edited.operations |= {
            id_: p for id_, p in described.items() if id_ not in edited.operations
        }
        edited.is_open = edited.is_open or not described

    def _relayed(self, id_: str) -> ProvedOperation:
        """An operation whose requests are sent as they are; their model may be renamed."""
        if id_ not in self._proved:
            route = self._by_id[id_]
            proved = proved_route(route, self._specifications[route.operation.spec])
            requests = replace(proved.requests, models=())
            self._proved[id_] = replace(proved, requests=requests, models=())
        return self._proved[id_]

    @cached_property
    def _documents(self) -> Mapping[str, Mapping[str, ProvedOperation]]:
        """The operations of each language that the documents describe, routed or not."""
        described: dict[str, dict[str, ProvedOperation]] = {}
        for name, specification in self._specifications.items():
            dialect = self._config.specs[name].dialect
            for operation in specification.operations.values():
                language = language_of(dialect, operation.path)
                if language is not None:
                    proved = proved_operation(operation, specification)
                    described.setdefault(language.name, {})[operation.id] = proved
        return described
