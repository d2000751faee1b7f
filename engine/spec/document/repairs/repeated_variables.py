"""Members of a JSON body that repeat a variable of the path: SDKs do not send them again (Google's
`model`), so that the body may omit them."""

from __future__ import annotations

from collections.abc import Collection
from copy import copy, deepcopy

from engine.source.problem import Findings, Level
from engine.spec.document import path_keys
from engine.spec.document.node import Library, Node
from engine.spec.document.path_items import operations_of
from engine.spec.document.path_templates import variables


def make_optional(library: Library, findings: Findings) -> None:
    """Make such members optional in the bodies of these operations, and of no others that refer to
    the same schema. Each is a warning."""
    for key, item in library.document.get("paths").items():
        names = variables(path_keys.read(key).template)
        for _, operation in operations_of(item) if names else ():
            _repair(operation, names, findings)


def _repair(operation: Node, names: Collection[str], findings: Findings) -> None:
    for media_type, media in operation.get("requestBody").get("content").items():
        schema = media.get("schema")
        repeated = [name for name in names if "json" in media_type and _requires(schema, name)]
        if not repeated:
            continue
        for name in repeated:
            at = (*schema.path, "required")
            message = f"the body requires '{name}', which is in the path; the body may omit it"
            source = schema.library.source(schema.uri, at)
            findings.note(source, at, Level.WARNING, "MW229", message, key=True)
        node = operation
        for step in ("requestBody", "content", media_type, "schema"):
            node = _own(node, step)
        value = node.value
        value["required"] = [name for name in value["required"] if name not in repeated]
        if not value["required"]:
            del value["required"]


def _requires(schema: Node, name: str) -> bool:
    value = schema.value if isinstance(schema.value, dict) else {}
    required, properties = value.get("required"), value.get("properties")
    if not isinstance(required, list) or not isinstance(properties, dict):
        return False
    return name in required and name in properties


def _own(holder: Node, key: str) -> Node:
    """A child of a node, replaced by a copy: an alias of YAML may have it in other places as well.
    A reference is replaced by a copy of its target, in which references are absolute, unless all
    are to the same file."""
    child, library, place = holder.get(key), holder.library, (*holder.path, key)
    if holder.literal(key).ref is None:
        holder.value[key] = value = copy(child.value)
    else:
        holder.value[key] = value = deepcopy(child.value)
        library.grafts.setdefault(holder.uri, {})[place] = library.origin(child.uri, child.path)
    return Node(library, holder.uri, place, value)
