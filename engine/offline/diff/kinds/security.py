"""The credentials that the documents ask for: alternatives (`security`) that ask for less or more.

Where `specs.x.token` says where a token is, the documents' requirements have no effect here.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.offline.diff.difference import Difference, Effect, Side
from engine.offline.diff.operation_pairs import difference, pairs
from engine.spec.document.node import Node

_Need = frozenset[str]
"""The schemes that one alternative asks for. Their scopes are the upstream's matter."""


def differences(old: Side, new: Side) -> Iterator[Difference]:
    for pair in pairs(old, new):
        before, after = _alternatives(pair.old), _alternatives(pair.new)
        has_effect = not new.config.specs[pair.after.spec].token
        easier = [need for need in after if not any(need >= other for other in before)]
        harder = [need for need in before if not any(need >= other for other in after)]
        security = _requirements(pair.new)
        place = security if security.value is not None else None
        for need in easier:
            level = Effect.WEAKER if has_effect else Effect.CHANGED
            message = f"the document also accepts {_text(need)} now"
            yield difference(pair, level, "security-alternative-added", place, message)
        for need in harder:
            level = Effect.BREAKING if has_effect else Effect.CHANGED
            message = f"the document no longer accepts {_text(need)} alone"
            yield difference(pair, level, "security-alternative-removed", place, message)


def _alternatives(operation: Node) -> list[_Need]:
    """The alternatives of an operation, or of its document; one that asks for nothing without
    any."""
    elements = _requirements(operation).elements()
    needs = [frozenset(map(str, each.value)) for each in elements if isinstance(each.value, dict)]
    return needs or [frozenset()]


def _requirements(operation: Node) -> Node:
    security = operation.get("security")
    return security if security.value is not None else operation.library.document.get("security")


def _text(need: _Need) -> str:
    return " with ".join(sorted(need)) or "requests without credentials"
