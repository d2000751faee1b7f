"""Models that callers may ask for, and their targets."""

from __future__ import annotations

from collections.abc import Iterator

from engine.config.models import Model
from engine.config.operations_by_model import ModelOperations
from engine.offline.diff.difference import Difference, Effect, Side
from engine.offline.diff.kinds.targets import rule_text, shares
from engine.values.wildcard import ByName, Patterns


def differences(old: Side, new: Side) -> Iterator[Difference]:
    before, after = old.config.models, new.config.models
    old_table, new_table = _table(old), _table(new)
    by_pattern = ByName(after)
    for name, entry in before.items():
        subject = (f"model {name}",)
        if name in after:
            continue
        instead = by_pattern.find(name) if "*" not in name else None
        if instead is None:
            message = "can no longer be requested"
            place = old.place(entry.at, key=True)
            yield Difference(Effect.REMOVED, "model-removed", place, subject, message)
        elif shares(instead.to) != shares(entry.to):
            message = f"goes to {shares(instead.to)} by '{instead.name}', was {shares(entry.to)}"
            place = new.place(instead.at, key=True)
            yield Difference(Effect.CHANGED, "model-targets", place, subject, message)
    for name, entry in after.items():
        was = before.get(name)
        if was is None:
            place, message = new.place(entry.at, key=True), f"can be requested: {shares(entry.to)}"
            yield Difference(Effect.ADDED, "model-added", place, (f"model {name}",), message)
        else:
            place = new.place(entry.at, key=True)
            for level, kind, message in _changes(was, entry, old_table, new_table):
                yield Difference(level, kind, place, (f"model {name}",), message)


def _changes(
    was: Model, now: Model, old: ModelOperations, new: ModelOperations
) -> Iterator[tuple[Effect, str, str]]:
    """Level, kind and message of each difference of a model that both configs have."""
    loses = {op.id for op in old.of(was.name)} - {op.id for op in new.of(now.name)}
    callable_level = Effect.BREAKING if loses else Effect.CHANGED
    refuses = _drops_less(was, now) and _is_translated(now.name, new)
    refusing_level = Effect.BREAKING if refuses else Effect.CHANGED
    if shares(now.to) != shares(was.to):
        yield Effect.CHANGED, "model-targets", f"goes to {shares(now.to)}, was {shares(was.to)}"
    if now.choose.text != was.choose.text:
        message = f"chooses its targets by {now.choose.text}, was {was.choose.text}"
        yield Effect.CHANGED, "model-choice", message
    if _rules(now) != _rules(was):
        texts, past = ("; ".join(map(rule_text, model.when)) or "none" for model in (now, was))
        other = " with other values" if texts == past else ""
        yield Effect.CHANGED, "model-rules", f"has the rules {texts}{other}, was {past}"
    if (text := _mirror_text(now)) != (past := _mirror_text(was)):
        yield Effect.CHANGED, "model-mirror", f"is copied to {text}, was {past}"
    if now.operations != was.operations:
        names, past = (", ".join(model.operations) or "all" for model in (now, was))
        yield callable_level, "model-operations", f"has the operations {names}, was {past}"
    if now.translate != was.translate:
        message = f"has its chat translated: {now.translate}, was {was.translate}"
        yield Effect.BREAKING if loses or refuses else Effect.CHANGED, "model-translate", message
    if now.drop != was.drop:
        names, past = (", ".join(model.drop) or "nothing" for model in (now, was))
        message = f"may drop {names} where a translation cannot carry it, was {past}"
        yield refusing_level, "model-drop", message
    if now.fallback != was.fallback:
        names, past = (", ".join(model.fallback) or "none" for model in (now, was))
        yield Effect.CHANGED, "model-fallback", f"falls back to {names}, was {past}"


def _rules(model: Model) -> list[tuple[object, ...]]:
    """What decides in the rules of a model."""
    return [
        (rule.conditions, shares(rule.to), rule.fallback, rule.choose.text) for rule in model.when
    ]


def _mirror_text(model: Model) -> str:
    mirror = model.mirror
    if mirror is None:
        return "nobody"
    operations = f", with {', '.join(mirror.operations)}" if mirror.operations else ""
    bound = f", {mirror.max_in_flight} at one time"
    return f"{shares(mirror.to)}: {mirror.percent:g}% of the requests{bound}{operations}"


def _drops_less(was: Model, now: Model) -> bool:
    """Whether a field that could be dropped is refused now."""
    if now.translate != "strict" or was.translate == "off":
        return False
    covers = Patterns(now.drop)
    return was.translate == "lossy" or not all(map(covers.match, was.drop))


def _is_translated(name: str, table: ModelOperations) -> bool:
    """Whether any request to a model is translated."""
    return any(each.language for op in table.of(name) for each in table.targets(name, op))


def _table(side: Side) -> ModelOperations:
    assert side.plan_result.plan is not None
    return side.plan_result.plan.model_operations()
