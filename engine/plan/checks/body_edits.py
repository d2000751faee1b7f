"""Checks edits of bodies against the schemas of operations: an edited place exists in at least one
of them, a value is valid wherever its place exists, and no required member is removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import orjson
from msgspec import Struct

from engine.config.config import Config
from engine.config.transforms import TransformConfig
from engine.source.problem import Findings, Level, Path
from engine.source.suggestion import did_you_mean
from engine.spec.document.node import Node
from engine.spec.document.schema_types import types_of
from engine.spec.expression import Expression
from engine.spec.schemas.refusal_messages import explain
from engine.spec.schemas.refusal_sentences import without_value
from engine.spec.schemas.schema_places import SchemaPlace, names_in, place_in
from engine.spec.spec import Specification
from engine.transforms.body_edits import BodyEdits, JsonValue
from engine.transforms.faults import RESERVED, Faults
from engine.transforms.places import ANY, ANY_DEPTH, Place
from engine.transforms.transform import has_place
from engine.values.errors import GatewayError


class Bodies(Struct, frozen=True):
    """The bodies of an operation, of its requests or its responses, known as `id` in messages.

    `schemas` are parts of the `specification`. `is_open`: there are other bodies without a
    description. `models` are the locations of the model's name that edits must not change.
    """

    id: str
    schemas: Sequence[Node]
    specification: Specification
    are_responses: bool = False
    is_open: bool = False
    models: Sequence[Expression] = ()


class Rules(Struct, frozen=True):
    """The codes of faults, their level, and the hint for a place without a similar name. With
    `required` "" edits may remove required members; with `added` "" they may create a place that
    some operations lack."""

    side: str
    no_place: str
    unfit: str
    required: str
    level: Level
    hint: str = ""
    added: str = ""


def note_faults(
    transform: TransformConfig, faults: Faults, level: Level, config: Config, findings: Findings
) -> None:
    """Note the faults of a transform at their places in the config."""
    for fault in faults.found:
        at = (*transform.at, *_path_in_config(fault.at, transform))
        message, hint = fault.message, fault.hint
        findings.note(config.source, at, level, fault.code, message, hint, key=fault.key)


def _path_in_config(at: Path, transform: TransformConfig) -> Path:
    """The path of an edit, with the name of a header as the config spells it."""
    if len(at) != 4 or at[1] != "header":  # side, header, kind, name
        return at
    names = transform.options[str(at[0])]["header"][str(at[2])]
    return (*at[:3], next(name for name in names if name.lower() == at[3]))


def note_model(name: str, at: Path, operation: str, faults: Faults) -> None:
    """Note an edit of the name of the model."""
    message = f"'{name}' names the model of {operation}, which has been chosen already"
    faults.add(at, RESERVED, message, "write the name for a target in `models`")


class BodyEditCheck:
    """The check of the edits of bodies, for some operations. A fault is noted once: for the first
    operation that the edit does not fit."""

    def __init__(
        self,
        operations: Sequence[Bodies],
        rules: Rules,
        faults: Faults,
        *,
        is_open: bool = False,
    ) -> None:
        """`is_open`: there are other operations without a description."""
        self._operations = [each for each in operations if each.schemas]
        self._is_open = is_open or any(each.is_open for each in operations)
        self._rules = rules
        self._faults = faults

    def run(self, body: BodyEdits) -> None:
        """Check all edits of a body."""
        for index, place in enumerate(body.remove):
            self._check_removed(place, ("remove", index), "remove")
        for old, new in body.rename:
            at = ("rename", old.text)
            self._check_removed(old, at, "rename")
            self._schemas_at(new, at, key=False)
            self._check_not_required(new, at)
        for steps, places in body.unless.items():
            text = next((place.text for place, _ in body.default if place.steps == steps), "")
            for index, place in enumerate(places):
                if not self._has(place):
                    self._note_missing(place, ("unless", text, index), key=False)
        for kind, values in (("default", body.default), ("set", body.set)):
            for place, value in values:
                self._check_added(place, (kind, place.text))
                for operation, schemas in self._schemas_at(place, (kind, place.text)):
                    if self._unfit(operation, schemas, value, (kind, place.text)):
                        break
        for kind, lists in (("prepend", body.prepend), ("append", body.append)):
            for place, items in lists:
                self._check_added(place, (kind, place.text))
                for operation, schemas in self._schemas_at(place, (kind, place.text)):
                    if self._unfit_items(operation, schemas, items, (kind, place.text)):
                        break

    def _add(self, at: Path, code: str, message: str, hint: str = "", *, key: bool = False) -> None:
        self._faults.add((self._rules.side, "body", *at), code, message, hint, key=key)

    def _places_in(self, place: Place, operation: Bodies) -> list[SchemaPlace]:
        """The place in each schema of an operation's bodies; without restrictions for a query of
        any depth."""
        if ANY_DEPTH in place.steps:
            return [SchemaPlace([], True, False)]
        return [place_in(schema, place.steps, ANY) for schema in operation.schemas]

    def _is_model(self, place: Place, at: Path) -> bool:
        for operation in self._operations:
            for expression in operation.models:
                if expression.location == "body" and may_be(place.steps, expression.steps):
                    note_model(
                        place.text, (self._rules.side, "body", *at), operation.id, self._faults
                    )
                    return True
        return False

    def _has(self, place: Place) -> bool:
        """Whether an operation has a place, or may have it; without operations nothing is known."""
        if self._is_open or not self._operations:
            return True
        return any(has_place(operation.schemas, place) for operation in self._operations)

    def _check_removed(self, place: Place, at: Path, kind: str) -> None:
        """Note a removed or renamed place that no operation has, or that one requires."""
        if self._is_model(place, at):
            return
        if not self._has(place):
            self._note_missing(place, at, key=kind == "rename")
            return
        self._check_not_required(place, at)

    def _check_not_required(self, place: Place, at: Path) -> None:
        if not self._rules.required or ANY in place.steps:
            return
        for operation in self._operations:
            if any(schema_place.required for schema_place in self._places_in(place, operation)):
                message = f"'{place.text}' is required by {operation.id}"
                self._add(at, self._rules.required, message, "remove this edit")
                return

    def _schemas_at(
        self, place: Place, at: Path, *, key: bool = True
    ) -> list[tuple[Bodies, list[Node]]]:
        """The schemas of a place by operation, where there are some; notes one that none has."""
        if self._is_model(place, at):
            return []
        if not self._has(place):
            self._note_missing(place, at, key=key)
        result = []
        for operation in self._operations:
            schema_places = self._places_in(place, operation)
            schemas = [schema for each in schema_places for schema in each.schemas]
            if schemas and not any(each.free for each in schema_places):
                result.append((operation, schemas))
        return result

    def _note_missing(self, place: Place, at: Path, *, key: bool) -> None:
        schemas = [schema for each in self._operations for schema in each.schemas]
        names = {name for schema in schemas for name in names_in(schema)}
        hint = did_you_mean(place.text, names, self._rules.hint)
        message = _lack_message(self._operations, place)
        self._add(at, self._rules.no_place, message, hint, key=key)

    def _check_added(self, place: Place, at: Path) -> None:
        """Note an added place that some operations have and others lack."""
        if not self._rules.added or place.query is not None or not self._has(place):
            return
        without = [each for each in self._operations if not has_place(each.schemas, place)]
        if without and len(without) < len(self._operations):
            message = f"{_lack_message(without, place)}: it is added anyway"
            hint = "write it at the targets or models whose requests have it"
            self._add(at, self._rules.added, message, hint, key=True)

    def _unfit(
        self, operation: Bodies, schemas: Sequence[Node], value: JsonValue, at: Path
    ) -> bool:
        """Note a value that fits none of the schemas. Returns whether it is at fault."""
        if value.constant is None:
            types = {name for s in schemas for name in types_of(s.value, s.follow)}
            if not isinstance(value.sample, str) or types & {"string", "any"}:
                return False
            self._add(at, self._rules.unfit, f"'{at[-1]}' of {operation.id} cannot be a string")
            return True
        constant = orjson.loads(value.constant)
        reason = ""
        for schema in schemas:
            validator = operation.specification.validator(schema, response=operation.are_responses)
            try:
                if validator.is_valid(constant):
                    return False
            except GatewayError:  # a schema that is too expensive to validate
                return False
            reason = reason or without_value(explain(validator, constant, str(at[1])).message)
        self._add(at, self._rules.unfit, f"the value does not fit {operation.id}: {reason}")
        return True

    def _unfit_items(
        self, operation: Bodies, schemas: Sequence[Node], items: Iterable[JsonValue], at: Path
    ) -> bool:
        types = {name for s in schemas for name in types_of(s.value, s.follow)}
        if not types & {"array", "any"}:
            message = f"'{at[-1]}' of {operation.id} is not an array"
            self._add(at, self._rules.unfit, message, key=True)
            return True
        schema_places = [place_in(schema, (ANY,), ANY) for schema in schemas]
        below = [schema for each in schema_places for schema in each.schemas]
        if not below or any(each.free for each in schema_places):
            return False
        return any(
            self._unfit(operation, below, item, (*at, index)) for index, item in enumerate(items)
        )


def may_be(steps: Sequence[str], path: Sequence[str]) -> bool:
    """Whether the steps of a place may lead to the value at a path."""
    if not steps:
        return not path
    if steps[0] == ANY_DEPTH:
        return any(may_be(steps[1:], path[at:]) for at in range(len(path)))
    fits = bool(path) and (steps[0] == path[0] or ANY in (steps[0], path[0]))
    return fits and may_be(steps[1:], path[1:])


def _lack_message(operations: Sequence[Bodies], place: Place) -> str:
    """The message that no operation has a place."""
    others = len(operations) - 1
    more = f", nor {'has 1 other' if others == 1 else f'have {others} others'}" if others else ""
    return f"{operations[0].id} has no '{place.text}'{more}"
