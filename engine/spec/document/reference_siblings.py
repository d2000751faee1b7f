"""Keywords beside the `$ref` of a schema.

Since OpenAPI 3.1 they count as well as the reference (JSON Schema core, 8.2.3.1). Such a schema is
rewritten so that its reference is a branch of `allOf`, which means the same: whoever follows the
reference of a schema then loses nothing. OpenAPI 3.0 ignores them, so that they are removed.
"""

from __future__ import annotations

from engine.source.problem import Findings, Level
from engine.spec.document.node import Library, Node
from engine.spec.document.object_walk import objects
from engine.spec.document.objects import OBJECTS

_EFFECTIVE = (
    OBJECTS["schema"].keys
    | {"not", "if", "then", "else", "unevaluatedItems", "contentMediaType", "contentEncoding"}
    | {"contentSchema", "dependencies", "$dynamicRef"}
) - {"$ref"}


def apply(library: Library, findings: Findings) -> None:
    """Make every schema of a library either a reference, or one with no reference but in its
    branches. 3.0: with a warning for what it ignores."""
    beside = [
        (node, _EFFECTIVE & node.value.keys())
        for node, kind, _ in objects(library)
        if kind == "schema" and isinstance(node.value.get("$ref"), str)
    ]
    for node, keywords in beside:
        if keywords and library.is_30:
            _drop(node, sorted(keywords), findings)
        elif keywords:
            branches = node.value.get("allOf")
            others = branches if isinstance(branches, list) else []
            node.value["allOf"] = [{"$ref": node.value.pop("$ref")}, *others]


def _drop(node: Node, keywords: list[str], findings: Findings) -> None:
    for keyword in keywords:
        del node.value[keyword]
    names = ", ".join(f"'{keyword}'" for keyword in keywords)
    message = f"OpenAPI 3.0 ignores what is beside a $ref: {names}"
    hint = "move the reference to a list beside them: allOf: [{$ref: ...}]"
    at = (*node.path, keywords[0])
    findings.note(node.source, at, Level.WARNING, "MW250", message, hint, key=True)
