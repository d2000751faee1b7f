"""All differences between two plans: each a value with a stable kind, a level, a place and a
sentence. A kind of difference is one file in `kinds/`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from types import FunctionType

from msgspec import Struct
from msgspec.structs import replace

from engine.config.config import Config
from engine.plan.plan import PlanResult
from engine.plan.route import Route
from engine.source.problem import Path, Place, Source, place_of
from engine.spec.document.path_templates import shape
from engine.spec.operation import Operation
from engine.values.discovery import Plugins
from engine.values.units import format_names

_MAX_NAMED = 3


class Effect(StrEnum):
    """The effect of a difference: with `weaker` there is less protection; `breaking` refuses or
    changes something that callers rely on."""

    WEAKER = "weaker"
    BREAKING = "breaking"
    REMOVED = "removed"
    CHANGED = "changed"
    ADDED = "added"


_ORDER = list(Effect)


class Difference(Struct, frozen=True):
    """A difference in effect. `subjects` are the operations, model or upstream that differ. `place`
    is in the new files, in the old ones for a removal. `message` is the sentence for people."""

    level: Effect
    kind: str
    place: Place
    subjects: tuple[str, ...]
    message: str

    @property
    def subject(self) -> str:
        """The first subjects by name, and the number of the others."""
        return format_names(self.subjects, _MAX_NAMED)

    def __str__(self) -> str:
        return f"{self.place}: {self.level}: {self.subject}: {self.message} [{self.kind}]"


class Side(Struct, frozen=True):
    """One of the two configs, as planned. `routes` are by operation; on the old side by the name
    that the operation has on the new one, if only its name has changed."""

    config: Config
    routes: Mapping[str, Route]
    plan_result: PlanResult

    @classmethod
    def of(cls, plan_result: PlanResult) -> Side:
        """The side of a planned config, which must have a plan."""
        assert plan_result.plan is not None
        routes = {route.name: route for route in plan_result.plan.routes}
        return cls(plan_result.plan.config, routes, plan_result)

    def renamed(self, names: Mapping[str, str]) -> Side:
        """The side with other names of operations."""
        routes = {names.get(name, name): route for name, route in self.routes.items()}
        return replace(self, routes=routes)

    def place(self, at: Path, *, key: bool = False) -> Place:
        """The place of a value of the config."""
        return place_of(self.config.source, at, key=key)

    @property
    def operations(self) -> dict[str, Operation]:
        """The operations of all documents by id, served or not."""
        specifications = self.plan_result.specifications.values()
        return {
            operation.id: operation
            for specification in specifications
            for operation in specification.operations.values()
        }


_KINDS: Plugins[Callable[[Side, Side], Iterable[Difference]]] = Plugins(
    "engine.offline.diff.kinds", "differences", FunctionType
)


def of_operation(operation: Operation) -> Place:
    """The place of an operation in its document."""
    source: Source = operation.source
    return place_of(source, operation.at, key=True)


def differences_between(old: PlanResult, new: PlanResult) -> list[Difference]:
    """The differences, the most severe first, without secrets. Both sides must have a plan."""
    before, after = Side.of(old), Side.of(new)
    before = before.renamed(renamed_operations(before.routes, after.routes))

    def redacted(difference: Difference) -> Difference:
        message = before.config.source.redact(after.config.source.redact(difference.message))
        return replace(difference, message=message)

    differences = (difference for kind in _KINDS.all() for difference in kind(before, after))
    return _merged(map(redacted, differences))


def renamed_operations(old: Mapping[str, Route], new: Mapping[str, Route]) -> dict[str, str]:
    """The new names of operations that callers reach as before: `operationId`, the name of the
    document and those of path variables may have changed."""
    names = {}
    before, after = _by_address(old), _by_address(new)
    for address, name in before.items():
        other = after.get(address, "")
        if other and name and other != name and (other not in old or name not in new):
            names[name] = other
    return names


def _by_address(routes: Mapping[str, Route]) -> dict[tuple[object, ...], str]:
    """The operations by method, path and hosts; "" for an address that several have."""
    names: dict[tuple[object, ...], str] = {}
    for name, route in routes.items():
        operation = route.operation
        for template, _ in route.templates:
            address = operation.method, shape(template), operation.query, route.hosts
            names[address] = "" if address in names else name
    return names


def _merged(differences: Iterable[Difference]) -> list[Difference]:
    """Merge equal differences of several subjects; the most severe first."""
    merged: dict[tuple[str, ...], Difference] = {}
    for difference in differences:
        key = (difference.level, difference.kind, str(difference.place), difference.message)
        previous = merged.get(key)
        subjects = (
            difference.subjects if previous is None else (*previous.subjects, *difference.subjects)
        )
        merged[key] = replace(difference, subjects=tuple(dict.fromkeys(subjects)))
    return sorted(
        merged.values(),
        key=lambda difference: (_ORDER.index(difference.level), difference.place, difference.kind),
    )
