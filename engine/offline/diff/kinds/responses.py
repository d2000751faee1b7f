"""Responses, as the documents describe them."""

from __future__ import annotations

from collections.abc import Iterator

from engine.offline.diff.difference import (
    Difference,
    Effect,
    Side,
    of_operation,
)
from engine.offline.diff.documents import Pair, media, pairs
from engine.offline.diff.schemas import Walk
from engine.source.problem import place_of


def differences(old: Side, new: Side) -> Iterator[Difference]:
    walk = Walk(of_responses=True)
    for pair in pairs(old, new):
        yield from _answers(pair, walk)


def _answers(pair: Pair, walk: Walk) -> Iterator[Difference]:
    before = dict(pair.old.get("responses").items())
    after = dict(pair.new.get("responses").items())
    subject = (pair.name,)
    for status, was in before.items():
        now = after.get(status)
        if now is None:
            if status.startswith("2"):
                words = f"no longer has the response {status}"
                place = of_operation(pair.after)
                yield Difference(Effect.BREAKING, "response-removed", place, subject, words)
            continue
        schemas = media(now)
        for name, schema in media(was).items():
            if name not in schemas:
                words = f"no longer has a response of {name} ({status})"
                place = place_of(now.source, now.path)
                kind = "response-media-type-removed"
                yield Difference(Effect.BREAKING, kind, place, subject, words)
                continue
            for change in walk.compare(schema, schemas[name], f"answer {status}"):
                place = place_of(change.node.source, change.node.path)
                yield Difference(Effect.BREAKING, change.kind, place, subject, change.words)
