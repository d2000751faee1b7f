"""Keywords beside the `$ref` of a schema.

Since OpenAPI 3.1 they count as well as the reference (JSON Schema core, 8.2.3.1). Such a schema is
rewritten so that its reference is a branch of `allOf`, which means the same: whoever follows the
reference of a schema then loses nothing. OpenAPI 3.0 ignores them.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.source.problem import Findings, Level
from engine.spec.document.node import Node
from engine.spec.document.object_walk import WalkedObject
from engine.spec.document.objects import OBJECTS
from engine.spec.document.schema_keywords import ANNOTATIONS

_EFFECTIVE = (
    OBJECTS["schema"].keys
    | {"not", "if", "then", "else", "unevaluatedItems", "contentMediaType", "contentEncoding"}
    | {"contentSchema", "dependencies", "$dynamicRef"}
) - {"$ref"}

_DOCUMENTATION = ANNOTATIONS - {
    *("readOnly", "writeOnly", "discriminator", "contentEncoding", "contentMediaType")
}
_IF_ABSENT = dict.fromkeys(("nullable", "readOnly", "writeOnly", "uniqueItems"), False)
"""What keywords mean where they are absent."""


def apply(walked: Iterable[WalkedObject], findings: Findings) -> None:
    """Make every schema of these objects either a reference, or one with no reference but in its
    branches. 3.0: with a warning for what it ignores."""
    for node, kind, _, _ in walked:
        if kind != "schema" or not isinstance(node.value.get("$ref"), str):
            continue
        keywords = _EFFECTIVE & node.value.keys()
        if node.library.is_30:
            if losses := sorted(_losses(node, keywords)):
                _note(node, losses, findings)
        elif keywords:
            branches = node.value.get("allOf")
            others = branches if isinstance(branches, list) else []
            node.value["allOf"] = [{"$ref": node.value.pop("$ref")}, *others]


def _losses(node: Node, keywords: Iterable[str]) -> Iterable[str]:
    """The keywords without which values are judged differently: no documentation, and nothing that
    the target of the reference says as well, or means without the keyword."""
    try:
        target = node.resolved().value
    except KeyError:
        target = None
    same = _IF_ABSENT | (target if isinstance(target, dict) else {})
    return [
        keyword
        for keyword in keywords
        if keyword not in _DOCUMENTATION
        and (keyword not in same or same[keyword] != node.value[keyword])
    ]


def _note(node: Node, keywords: list[str], findings: Findings) -> None:
    names = ", ".join(f"'{keyword}'" for keyword in keywords)
    message = f"OpenAPI 3.0 ignores what is beside a $ref: {names}"
    hint = "move the reference to a list beside them: allOf: [{$ref: ...}]"
    at = (*node.path, keywords[0])
    findings.note(node.source, at, Level.WARNING, "MW250", message, hint, key=True)
