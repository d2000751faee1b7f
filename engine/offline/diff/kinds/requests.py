"""Requests: parameters and bodies of operations served on both sides."""

from __future__ import annotations

from collections.abc import Iterator

from engine.offline.diff.difference import Difference, Effect, Side, of_operation
from engine.offline.diff.documents import Pair, breaking, media, pairs, parameters
from engine.offline.diff.schemas import Walk


def differences(old: Side, new: Side) -> Iterator[Difference]:
    walk = Walk(of_responses=False)
    for pair in pairs(old, new):
        yield from _parameters(pair, walk)
        yield from _body(pair, walk)


def _parameters(pair: Pair, walk: Walk) -> Iterator[Difference]:
    before, after = parameters(pair.old), parameters(pair.new)
    for (place, name), node in after.items():
        was = before.get((place, name))
        required = node.value.get("required") is True
        if required and (was is None or was.value.get("required") is not True):
            words = f"{place} parameter '{name}' is required now"
            yield breaking(pair, "parameter-required", node, words)
        if was is not None:
            where = f"{place} parameter {name}"
            for change in walk.compare(was.get("schema"), node.get("schema"), where):
                yield breaking(pair, change.kind, change.node, change.words)
    for place, name in before:
        if (place, name) not in after:
            words = f"{place} parameter '{name}' is no longer in the document"
            yield Difference(
                Effect.CHANGED, "parameter-removed", of_operation(pair.after), (pair.name,), words
            )


def _body(pair: Pair, walk: Walk) -> Iterator[Difference]:
    was, now = pair.old.get("requestBody"), pair.new.get("requestBody")
    if not isinstance(now.value, dict):
        if isinstance(was.value, dict):
            yield breaking(pair, "body-removed", None, "no longer accepts a request body")
        return
    required = now.value.get("required") is True
    if required and not (isinstance(was.value, dict) and was.value.get("required") is True):
        yield breaking(pair, "body-required", now, "the request body is required now")
    before, after = media(was), media(now)
    for name, schema in before.items():
        if name not in after:
            words = f"no longer accepts {name}"
            yield breaking(pair, "media-type-removed", now, words)
            continue
        for change in walk.compare(schema, after[name], ""):
            yield breaking(pair, change.kind, change.node, change.words)
