"""Responses, as the documents describe them."""

from __future__ import annotations

from collections.abc import Iterator

from engine.offline.diff.difference import Difference, Side
from engine.offline.diff.documents import Pair, breaking, media, pairs
from engine.offline.diff.schemas import Walk


def differences(old: Side, new: Side) -> Iterator[Difference]:
    walk = Walk(of_responses=True)
    for pair in pairs(old, new):
        yield from _answers(pair, walk)


def _answers(pair: Pair, walk: Walk) -> Iterator[Difference]:
    before = dict(pair.old.get("responses").items())
    after = dict(pair.new.get("responses").items())
    for status, was in before.items():
        now = after.get(status)
        if now is None:
            if status.startswith("2"):
                words = f"no longer has the response {status}"
                yield breaking(pair, "response-removed", None, words)
            continue
        schemas = media(now)
        for name, schema in media(was).items():
            if name not in schemas:
                words = f"no longer has a response of {name} ({status})"
                yield breaking(pair, "response-media-type-removed", now, words)
                continue
            for change in walk.compare(schema, schemas[name], f"answer {status}"):
                yield breaking(pair, change.kind, change.node, change.words)
