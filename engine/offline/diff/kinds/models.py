"""Models that callers may ask for, and their targets."""

from __future__ import annotations

from collections.abc import Iterator

from engine.offline.diff.difference import Difference, Effect, Side
from engine.offline.diff.kinds.targets import shares
from engine.values.wildcard import ByName


def differences(old: Side, new: Side) -> Iterator[Difference]:
    before, after = old.config.models, new.config.models
    by_pattern = ByName(after)
    for name, entry in before.items():
        subject = (f"model {name}",)
        if name in after:
            continue
        instead = by_pattern.find(name) if "*" not in name else None
        if instead is None:
            words = "can no longer be requested"
            place = old.place(entry.at, key=True)
            yield Difference(Effect.REMOVED, "model-removed", place, subject, words)
        elif shares(instead.to) != shares(entry.to):
            words = f"goes to {shares(instead.to)} by '{instead.name}', was {shares(entry.to)}"
            place = new.place(instead.at, key=True)
            yield Difference(Effect.CHANGED, "model-targets", place, subject, words)
    for name, entry in after.items():
        subject, place = (f"model {name}",), new.place(entry.at, key=True)
        was = before.get(name)
        if was is None:
            words = f"can be requested: {shares(entry.to)}"
            yield Difference(Effect.ADDED, "model-added", place, subject, words)
            continue
        if shares(entry.to) != shares(was.to):
            words = f"goes to {shares(entry.to)}, was {shares(was.to)}"
            yield Difference(Effect.CHANGED, "model-targets", place, subject, words)
        if entry.operations != was.operations:
            now, past = (", ".join(target.operations) or "all" for target in (entry, was))
            words = f"has the operations {now}, was {past}"
            removed_operations = _operations(old, name) - _operations(new, name)
            level = Effect.BREAKING if removed_operations else Effect.CHANGED
            yield Difference(level, "model-operations", place, subject, words)
        if entry.translate != was.translate:
            words = f"has its chat translated: {entry.translate}, was {was.translate}"
            removed_operations = _operations(old, name) - _operations(new, name)
            level = Effect.BREAKING if removed_operations else Effect.CHANGED
            yield Difference(level, "model-translate", place, subject, words)
        if entry.drop != was.drop:
            now, past = (", ".join(model.drop) or "nothing" for model in (entry, was))
            words = f"may drop {now} where a translation cannot carry it, was {past}"
            yield Difference(Effect.CHANGED, "model-drop", place, subject, words)
        if entry.fallback != was.fallback:
            now, past = (", ".join(target.fallback) or "none" for target in (entry, was))
            words = f"falls back to {now}, was {past}"
            yield Difference(Effect.CHANGED, "model-fallback", place, subject, words)


def _operations(side: Side, name: str) -> set[str]:
    assert side.planned.plan is not None
    return {operation.id for operation in side.planned.plan.model_operations().of(name)}
