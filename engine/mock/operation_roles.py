"""What an operation does with the objects that the mock keeps: its role, read of the document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from engine.spec.document.node import Node
from engine.spec.document.path_templates import shape
from engine.spec.operation import Operation
from engine.values.trees import Json

FACTS = "x-modelway-mock"


class Role(Struct, frozen=True):
    """What an operation does with the objects of its collection: `create`, `list`, `retrieve`,
    `change`, `delete`, or "" for anything else.

    `parents` are the positions in the path of ids that must exist. `members` are those of the
    answer's schema, by their types. `variable` is the path's name for the id of an item.
    """

    action: str
    parents: tuple[int, ...]
    members: Mapping[str, frozenset[str]]
    rows: str
    variable: str
    stages: Sequence[Json]
    change: Json
    store: str
    posted: str
    refers: Mapping[str, str]
    batch: bool = False


def item_shapes(operations: Iterable[Operation]) -> dict[str, str]:
    """The shapes of the paths of items that can be created, with the name of their variable. Those
    of a collection at the top that can be deleted are created elsewhere, by an upload; models are
    not kept here."""
    operations = list(operations)
    created = {op.path for op in operations if op.method == "POST"}
    deleted = (op.path for op in operations if op.method == "DELETE" and "{model}" not in op.path)
    created.update(path.rpartition("/")[0] for path in deleted if path.count("/") == 2)
    shapes = {}
    for operation in operations:
        collection, _, last = operation.path.rpartition("/")
        is_item = last.startswith("{") and last.endswith("}")
        if operation.method == "GET" and is_item and collection in created:
            shapes[shape(operation.path)] = last[1:-1]
    return shapes


def role_of(operation: Operation, node: Node, shapes: Mapping[str, str]) -> Role:
    """The role of an operation; `shapes` are the items of its dialect."""
    path = shape(operation.path)
    item = path.partition(":")[0] if ":" in path.rpartition("/")[2] else path
    action = ""
    if operation.method == "POST" and f"{path}/{{}}" in shapes:
        action = "create"
    elif operation.method == "GET" and f"{path}/{{}}" in shapes:
        action = "list"
    elif path in shapes:
        action = {"GET": "retrieve", "DELETE": "delete"}.get(operation.method, "change")
    elif operation.method == "POST" and (item in shapes or path.rpartition("/")[0] in shapes):
        action = "change"
    segments = item.split("/")
    parents = tuple(
        index for index in range(2, len(segments)) if "/".join(segments[: index + 1]) in shapes
    )
    facts = node.get(FACTS)
    members, rows = _members(node)
    return Role(
        action,
        parents,
        members,
        rows,
        shapes.get(f"{path}/{{}}", ""),
        facts.get("stages").value or (),
        facts.get("set").value or {},
        facts.text("store"),
        facts.text("posted"),
        facts.get("refers").value or {},
        facts.get("batch").value is True,
    )


def _members(node: Node) -> tuple[dict[str, frozenset[str]], str]:
    """The members of the JSON answer with their types, and the first one that is an array."""
    answer = node.get("responses").get("200").resolved()
    schema = answer.get("content").get("application/json").get("schema").resolved()
    members, rows = {}, ""
    for name, property_ in schema.get("properties").items():
        kind = property_.resolved().get("type").value
        kinds = frozenset([kind] if isinstance(kind, str) else kind or ())
        members[name] = kinds
        if not rows and "array" in kinds:
            rows = name
    return members, rows
