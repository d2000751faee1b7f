"""What documents say of the objects of operations, read and proved against the same documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from engine import dialects
from engine.config.config import Config
from engine.config.objects import check_tags
from engine.config.specs import Spec
from engine.dialects.interface.files import BatchFormat
from engine.objects.facts import EXTENSION, ObjectFacts
from engine.objects.facts_reader import read_facts
from engine.objects.id_places import IdPlace
from engine.objects.sealed_ids import tag
from engine.objects.stored_responses import KIND
from engine.source.problem import Findings, Path, Source
from engine.source.suggestion import did_you_mean
from engine.spec.bodies.response_schemas import edited_schemas
from engine.spec.document import path_templates
from engine.spec.document.node import Node
from engine.spec.operation import Operation
from engine.spec.schemas.schema_places import can_have, names_in
from engine.spec.spec import Specification
from engine.transforms.transform import body_schemas, has_unknown_body

CODE = "MW490"
_UNDESCRIBED = "**"


def check_objects(
    config: Config, specifications: Mapping[str, Specification], findings: Findings
) -> None:
    """Note facts of the config for operations that no document has, and upstreams that sealed ids
    cannot tell apart."""
    for spec in config.specs.values():
        specification = specifications.get(spec.name)
        for name in spec.objects if specification is not None else ():
            assert specification is not None
            operation_names = [operation.name for operation in specification.operations.values()]
            if name not in operation_names:
                message = f"'{spec.name}' has no operation '{name}'"
                at = (*spec.at, "objects", name)
                hint = did_you_mean(name, operation_names)
                findings.error(config.source, at, CODE, message, hint, key=True)
    if config.objects.ring:
        names = [*config.upstreams]
        check_tags(names, [*map(tag, names)], config.source, findings)


def object_facts(
    operation: Operation, node: Node, spec: Spec, config: Config, findings: Findings
) -> ObjectFacts | None:
    """The facts of an operation, None without any, and without a key that seals ids. Every place
    that the operation lacks is noted."""
    source: Source
    if operation.name in spec.objects:
        value: object = spec.objects[operation.name]
        source, at = config.source, (*spec.at, "objects", operation.name)
    elif node.has(EXTENSION):
        value = node.value[EXTENSION]
        source, at = operation.source, (*operation.at, EXTENSION)
    else:
        return None
    facts, faults = read_facts(value)
    for fault in faults:
        findings.error(source, (*at, *fault.at), CODE, f"{operation.id}: {fault.message}")
    if facts is None:
        return None
    if facts.batch and (spec.dialect not in dialects.names() or not _batches(spec)):
        message = f"{operation.id}: dialect '{spec.dialect}' has no batches"
        findings.error(source, (*at, "batch"), CODE, message)
    _check_places(facts, operation, node, source, at, findings)
    return facts if config.objects.ring else None


def _batches(spec: Spec) -> BatchFormat | None:
    return dialects.get(spec.dialect).batches


def _check_places(
    facts: ObjectFacts,
    operation: Operation,
    node: Node,
    source: Source,
    at: Path,
    findings: Findings,
) -> None:
    """Note each place that the operation does not have in its document."""
    requests, responses = _Requests(operation, node), _Responses(operation, node)
    in_path = any(p.kind == KIND and p.location == "path" for p in facts.names)
    if facts.turns not in ("", "create", "continue") and not in_path:
        message = f"{operation.id}: '{facts.turns}' needs a {KIND} in the path, among 'names'"
        findings.error(source, (*at, "turns"), CODE, message)
    creations = [mark.at for mark in facts.marks if mark.at is not None]
    displays = [mark.shown for mark in facts.marks if mark.shown is not None]
    lists = facts.lists
    parameters = () if lists is None else (lists.limit, lists.forward, lists.backward)
    listed = [IdPlace(f"query.{name}", "", "query", (name,)) for name in parameters if name]
    pointers = () if lists is None else (lists.items, lists.next, lists.more, lists.first)
    streamed = [] if facts.streams is None else [_streamed(facts.streams)]
    inside = [IdPlace("body#/" + "/".join(steps), "", "body", steps) for steps in pointers if steps]
    for key, places, part in (
        ("names", facts.names, requests),
        ("creates", facts.creates, responses),
        ("lists", listed, requests),
        ("lists", inside, responses),
        ("marks", creations, requests),
        ("marks", displays, responses),
        ("streams", streamed, requests),
    ):
        for place in places:
            if reason := part.lacks(place):
                hint = did_you_mean(place.steps[-1], part.names(place)) if place.steps else ""
                message = f"{operation.id} has no '{place.text}': {reason}"
                findings.error(source, (*at, key), CODE, message, hint, key=True)


def _streamed(field: str) -> IdPlace:
    """The place of what is sent on as it arrives."""
    steps = (field,) if field else ()
    return IdPlace("/".join(("body#", *steps)), "", "body", steps)


class _Requests:
    """The places of an operation's requests."""

    def __init__(self, operation: Operation, node: Node) -> None:
        self._operation = operation
        self._schemas, self._is_open = body_schemas(node), has_unknown_body(node)
        self._has_body = node.has("requestBody")

    def lacks(self, place: IdPlace) -> str:
        """Why there is no such place; "" if there is one."""
        if place.location == "body":
            if not self._has_body:
                return "its requests have no body"
            if not place.steps:
                return ""
            return _lacks(place.steps, self._schemas, is_open=self._is_open)
        if place.location == "message":
            return _no_session(self._operation)
        if place.location == "path":
            exists = place.steps[0] in self.names(place)
            return "" if exists else f"its path is {self._operation.path}"
        return "" if place.steps[0].lower() in self.names(place) else "it has no such parameter"

    def names(self, place: IdPlace) -> Sequence[str]:
        """Names that may have been meant."""
        if place.location == "body":
            return _names(self._schemas)
        if place.location == "path":
            return path_templates.variables(self._operation.path)
        parameters = [p for p in self._operation.parameters if p.location == place.location]
        return [parameter.name.lower().removesuffix("[]") for parameter in parameters]


class _Responses:
    """The places of an operation's responses."""

    def __init__(self, operation: Operation, node: Node) -> None:
        self._operation = operation
        self._schemas, self._is_open = edited_schemas(node)
        self._headers = operation.response_headers

    def lacks(self, place: IdPlace) -> str:
        """Why there is no such place; "" if there is one."""
        if place.location == "lines":
            return ""  # documents describe no lines of the files that vendors make
        if place.location == "message":
            return _no_session(self._operation)
        if place.location == "header":
            is_known = place.steps[0].lower() in (*self._headers, "location")
            return "" if is_known else "its responses have no such header"
        return _lacks(place.steps, self._schemas, is_open=self._is_open)

    def names(self, place: IdPlace) -> Sequence[str]:
        """Names that may have been meant."""
        return self._headers if place.location == "header" else _names(self._schemas)


def _no_session(operation: Operation) -> str:
    """Why there are no messages, which no document describes; "" for a WebSocket."""
    return "" if operation.websocket else "it is no WebSocket"


def _lacks(steps: Sequence[str], schemas: Sequence[Node], *, is_open: bool) -> str:
    """Why there is no such place; of one at any depth, only what stands above it is known."""
    steps_above = steps[: steps.index(_UNDESCRIBED)] if _UNDESCRIBED in steps else steps
    if is_open or can_have(schemas, steps_above, "*"):
        return ""
    return "its schemas have no such member"


def _names(schemas: Iterable[Node]) -> list[str]:
    return [name for schema in schemas for name in names_in(schema)]
