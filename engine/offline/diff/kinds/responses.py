"""Responses, as the documents describe them."""

from __future__ import annotations

from collections.abc import Iterator

from engine.offline.diff.difference import Difference, Side
from engine.offline.diff.operation_pairs import Pair, breaking, media, of_type, pairs, schema_part
from engine.offline.diff.schema_comparison import Walk
from engine.spec.document.node import Node


def differences(old: Side, new: Side) -> Iterator[Difference]:
    walk = Walk(of_responses=True)
    for pair in pairs(old, new):
        yield from _responses(pair, walk)


def _responses(pair: Pair, walk: Walk) -> Iterator[Difference]:
    before = dict(pair.old.get("responses").items())
    after = dict(pair.new.get("responses").items())
    for status, was in before.items():
        now = _of_status(status, after)
        if now is None:
            if status.upper().startswith("2"):
                message = f"no longer has the response {status}"
                yield breaking(pair, "response-removed", None, message)
            continue
        yield from _contents(pair, walk, was, now, status)
        yield from _headers(pair, walk, was, now, status)


def _of_status(status: str, responses: dict[str, Node]) -> Node | None:
    """The response of a status, or of its range (`2XX`), or the default one."""
    names = (status, f"{status[:1]}XX", f"{status[:1]}xx", "default")
    return next((responses[name] for name in names if name in responses), None)


def _contents(pair: Pair, walk: Walk, was: Node, now: Node, status: str) -> Iterator[Difference]:
    schemas = media(now)
    for name, schema in media(was).items():
        partner = of_type(name, schemas)
        if partner is None:
            message = f"no longer has a response of {name} ({status})"
            yield breaking(pair, "response-media-type-removed", now, message)
            continue
        for change in walk.compare_any(schema, partner, f"answer {status}", now):
            yield breaking(pair, change.kind, change.node, change.message)


def _headers(pair: Pair, walk: Walk, was: Node, now: Node, status: str) -> Iterator[Difference]:
    headers = {name.lower(): header for name, header in now.get("headers").items()}
    for name, header in was.get("headers").items():
        where = f"header {name} of the answer {status}"
        other = headers.get(name.lower())
        if other is None:
            message = f"the {where} is no longer in the document"
            yield breaking(pair, "response-header-removed", now, message)
            continue
        if header.value.get("required") is True and other.value.get("required") is not True:
            message = f"the {where} may be missing now"
            yield breaking(pair, "response-header-optional", other, message)
        for change in walk.compare_any(schema_part(header), schema_part(other), where, other):
            yield breaking(pair, change.kind, change.node, change.message)
