"""Proves transforms of the caller's side against the documents: a place that is edited exists in
one of the operations at least, a value fits wherever it exists, and nothing required is taken away.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from urllib.parse import quote

import orjson

from engine.config.config import Config
from engine.config.model_operations import ModelOperations
from engine.config.transforms import TransformConfig
from engine.plan.route import Route
from engine.policies import transform_of
from engine.source.problem import Findings, Path
from engine.source.suggestion import did_you_mean
from engine.spec.document.node import Node
from engine.spec.expression import Expression
from engine.spec.query_string import Query
from engine.spec.refusal_messages import explain
from engine.spec.schema_places import SchemaPlace, names_in, place_in
from engine.spec.schema_types import types_of
from engine.spec.spec import Specification
from engine.transforms.body_edits import BodyEdits
from engine.transforms.compile import compile_transform
from engine.transforms.faults import NO_PLACE, REQUIRED, RESERVED, UNFIT, Faults
from engine.transforms.for_operation import body_schemas, has_place
from engine.transforms.json_values import JsonValue
from engine.transforms.places import ANY, ANY_DEPTH, Place
from engine.transforms.query_edits import QueryEdits
from engine.values.errors import GatewayError


@dataclass(frozen=True, slots=True)
class ProvedOperation:
    """An operation that a transform edits: its name, its schemas, and where it names the model."""

    id: str
    specification: Specification
    bodies: Sequence[Node]
    models: Sequence[Expression]
    route: Route


def prove_transforms(
    routes: Sequence[Route],
    operations: ModelOperations,
    config: Config,
    specifications: Mapping[str, Specification],
    findings: Findings,
) -> None:
    """Note what transforms of policies and models do that an operation does not allow. `operations`
    are those of each model. Only for a config without errors."""
    by_id = {route.operation.id: route for route in routes}

    @cache
    def proved(operation: str) -> ProvedOperation:
        return _proved(by_id[operation], specifications)

    edited: dict[Path, tuple[TransformConfig, list[ProvedOperation]]] = {}
    for route in routes:
        for policy in route.policies:
            for transform in transform_of(policy):
                edited.setdefault(transform.at, (transform, []))[1].append(
                    proved(route.operation.id)
                )
    for model in (model for model in config.models.values() if model.transform):
        ids = [operation.id for operation in operations.of(model.name)]
        for transform in model.transform:
            edited[transform.at] = (transform, [proved(id_) for id_ in ids if id_ in by_id])
    for transform, served in edited.values():
        faults = Faults()
        _prove(transform, served, faults)
        for fault in faults.found:
            at = (*transform.at, *fault.at)
            findings.error(config.source, at, fault.code, fault.message, fault.hint, key=fault.key)


def _proved(route: Route, specifications: Mapping[str, Specification]) -> ProvedOperation:
    specification = specifications[route.operation.spec]
    schemas = body_schemas(specification.node(route.operation))
    models = [] if route.model is None else [route.model, *route.also]
    return ProvedOperation(route.operation.id, specification, schemas, models, route)


def _prove(config: TransformConfig, served: Sequence[ProvedOperation], faults: Faults) -> None:
    request = compile_transform(config, upstream=False, faults=Faults()).request
    bodies = [operation for operation in served if operation.bodies]
    proof = _BodyProof(bodies, faults)
    proof.edits(request.body)
    for operation in served:
        _prove_query(request.query, operation, faults)
        for expression in operation.models:
            if expression.place in ("query", "header"):
                part = request.query if expression.place == "query" else request.header
                names = {*part.remove, *part.set, *part.rename, *part.rename.values()}
                if expression.steps[0] in names:
                    _note_model(
                        expression.steps[0], ("request", expression.place), operation, faults
                    )


def _note_model(name: str, at: Path, operation: ProvedOperation, faults: Faults) -> None:
    message = f"'{name}' names the model of {operation.id}, which has been chosen already"
    faults.add(at, RESERVED, message, "write the name for a target in `models`")


class _BodyProof:
    """The proof of the edits of bodies, for some operations. An edit is at fault once: for the
    first operation that it does not fit."""

    def __init__(self, operations: Sequence[ProvedOperation], faults: Faults) -> None:
        self._operations = operations
        self._faults = faults

    def edits(self, body: BodyEdits) -> None:
        for index, place in enumerate(body.remove):
            self._taken(place, ("remove", index), "remove")
        for old, new in body.rename:
            at = ("rename", old.text)
            self._taken(old, at, "rename")
            self._schemas_at(new, at, key=False)
            self._not_required(new, at)
        for steps, places in body.unless.items():
            text = next((place.text for place, _ in body.default if place.steps == steps), "")
            for index, place in enumerate(places):
                if self._operations and not self._has(place):
                    self._missing(place, self._operations[0], ("unless", text, index), key=False)
        for kind, values in (("default", body.default), ("set", body.set)):
            for place, value in values:
                at = (kind, place.text)
                for operation, found in self._schemas_at(place, at):
                    if self._unfit(operation, found, value, (kind, place.text)):
                        break
        for kind, lists in (("prepend", body.prepend), ("append", body.append)):
            for place, items in lists:
                for operation, found in self._schemas_at(place, (kind, place.text)):
                    if self._unfit_items(operation, found, items, (kind, place.text)):
                        break

    def _add(self, at: Path, code: str, message: str, hint: str = "", *, key: bool = False) -> None:
        self._faults.add(("request", "body", *at), code, message, hint, key=key)

    def _found(self, place: Place, operation: ProvedOperation) -> list[SchemaPlace]:
        """What the schemas of an operation's bodies say of a place; nothing for a query that may
        go to any depth."""
        if ANY_DEPTH in place.steps:
            return [SchemaPlace([], True, False)]
        return [place_in(schema, place.steps, ANY) for schema in operation.bodies]

    def _is_model(self, place: Place, at: Path) -> bool:
        for operation in self._operations:
            for expression in operation.models:
                if expression.place == "body" and expression.steps == place.steps:
                    at = ("request", "body", *at)
                    _note_model(place.text, at, operation, self._faults)
                    return True
        return False

    def _has(self, place: Place) -> bool:
        """Whether an operation has a place."""
        return any(has_place(operation.bodies, place) for operation in self._operations)

    def _taken(self, place: Place, at: Path, kind: str) -> None:
        """A place that is removed or renamed: one operation has it, and none requires it."""
        if self._is_model(place, at):
            return
        if self._operations and not self._has(place):
            self._missing(place, self._operations[0], at, key=kind == "rename")
            return
        self._not_required(place, at)

    def _not_required(self, place: Place, at: Path) -> None:
        for operation in self._operations:
            if ANY not in place.steps and any(f.required for f in self._found(place, operation)):
                message = f"'{place.text}' is required by {operation.id}"
                self._add(at, REQUIRED, message, "take this edit out")
                return

    def _schemas_at(
        self, place: Place, at: Path, *, key: bool = True
    ) -> list[tuple[ProvedOperation, list[Node]]]:
        """The schemas of a place by operation, where there are some; notes one that none has."""
        if self._is_model(place, at):
            return []
        result = []
        if self._operations and not self._has(place):
            self._missing(place, self._operations[0], at, key=key)
        for operation in self._operations:
            places = self._found(place, operation)
            schemas = [schema for each in places for schema in each.schemas]
            if schemas and not any(each.free for each in places):
                result.append((operation, schemas))
        return result

    def _missing(self, place: Place, operation: ProvedOperation, at: Path, *, key: bool) -> None:
        schemas = [schema for each in self._operations for schema in each.bodies]
        names = {name for schema in schemas for name in names_in(schema)}
        hint = did_you_mean(place.text, names)
        more = f", nor have {len(self._operations) - 1} others" if len(self._operations) > 1 else ""
        message = f"{operation.id} has no '{place.text}'{more}"
        self._add(at, NO_PLACE, message, hint, key=key)

    def _unfit(
        self, operation: ProvedOperation, schemas: Sequence[Node], value: JsonValue, at: Path
    ) -> bool:
        """Note a value that fits none of the schemas. Returns whether it is at fault."""
        if value.constant is None:
            types = {name for s in schemas for name in types_of(s.value, s.follow)}
            if not isinstance(value.sample, str) or types & {"string", "any"}:
                return False
            self._add(at, UNFIT, f"{operation.id} takes no text in '{at[-1]}'")
            return True
        constant = orjson.loads(value.constant)
        reason = ""
        for schema in schemas:
            validator = operation.specification.validator(schema)
            if validator.is_valid(constant):
                return False
            reason = reason or explain(validator, constant, "").message
        self._add(at, UNFIT, f"the value does not fit {operation.id}: {reason}")
        return True

    def _unfit_items(
        self,
        operation: ProvedOperation,
        schemas: Sequence[Node],
        items: Iterable[JsonValue],
        at: Path,
    ) -> bool:
        types = {name for s in schemas for name in types_of(s.value, s.follow)}
        if not types & {"array", "any"}:
            self._add(at, UNFIT, f"'{at[-1]}' of {operation.id} is no list", key=True)
            return True
        places = [place_in(schema, (ANY,), ANY) for schema in schemas]
        below = [schema for each in places for schema in each.schemas]
        if not below or any(each.free for each in places):
            return False
        return any(
            self._unfit(operation, below, item, (*at, index)) for index, item in enumerate(items)
        )


def _prove_query(edits: QueryEdits, operation: ProvedOperation, faults: Faults) -> None:
    """Note constant values that a declared parameter refuses, and required ones taken away."""
    for parameter in operation.route.operation.parameters:
        if parameter.place != "query":
            continue
        if parameter.required and parameter.name in (*edits.remove, *edits.rename):
            message = f"'{parameter.name}' is required by {operation.id}"
            faults.add(("request", "query"), REQUIRED, message, "take this edit out")
        for kind, values in (("default", edits.default), ("set", edits.set)):
            template = values.get(parameter.name)
            if template is None or template.constant is None:
                continue
            raw = f"{quote(parameter.name, safe='')}={quote(template.constant, safe='')}"
            try:
                parameter.check(Query.parse(raw))
            except GatewayError as error:
                at = ("request", "query", kind, parameter.name)
                faults.add(at, UNFIT, f"the value does not fit {operation.id}: {error.message}")
