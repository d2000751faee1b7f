"""Transforms of routes, models, upstreams and targets: added, changed or removed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.config.models import TargetConfig
from engine.config.transforms import TransformConfig
from engine.offline.diff.difference import Difference, Effect, Side
from engine.offline.transform_edits import edits_of
from engine.policies import transform_of
from engine.values.trees import value_at

_Edit = tuple[str, Any]
"""An edit in words, and its value."""


def differences(old: Side, new: Side) -> Iterator[Difference]:
    before, after = _transforms(old), _transforms(new)
    for subject in {**before, **after}:
        was, now = before.get(subject, ()), after.get(subject, ())
        if was == now:
            continue
        place = new.place(now[0].at) if now else old.place(was[0].at)
        message = _words(_edits(was), _edits(now))
        yield Difference(Effect.CHANGED, "transform-changed", place, (subject,), message)


def _transforms(side: Side) -> dict[str, tuple[TransformConfig, ...]]:
    """The transforms by the name of their subject, without empty ones."""
    config = side.config
    by_subject = {f"upstream {name}": entry.transform for name, entry in config.upstreams.items()}
    for name, model in config.models.items():
        by_subject[f"model {name}"] = model.transform
        by_subject |= _of_targets(f"model {name}", model.to)
        if model.mirror is not None:
            by_subject |= _of_targets(f"model {name}, mirror", model.mirror.to)
        for number, rule in enumerate(model.when, 1):
            by_subject |= _of_targets(f"model {name}, rule {number}", rule.to)
    for index, route in enumerate(config.routes):
        by_subject |= _of_targets(f"route {index + 1}", route.to)
    for name, served in side.routes.items():
        by_subject[name] = tuple(t for policy in served.policies for t in transform_of(policy))
    return {subject: transforms for subject, transforms in by_subject.items() if transforms}


def _of_targets(
    subject: str, targets: tuple[TargetConfig, ...]
) -> Mapping[str, tuple[TransformConfig, ...]]:
    return {
        f"{subject}, target {index + 1}": target.transform for index, target in enumerate(targets)
    }


def _words(was: list[_Edit], now: list[_Edit]) -> str:
    """What is different, by the edits that are: values may be secrets."""
    if not now:
        return "has no transform"
    if not was:
        return f"is transformed now: {', '.join(name for name, _ in now)}"
    others = list(dict.fromkeys(name for name, value in now if (name, value) not in was))
    names = {name for name, _ in now}
    removed = list(dict.fromkeys(name for name, _ in was if name not in names))
    parts = [", ".join(others), f"no longer {', '.join(removed)}" if removed else ""]
    return f"is transformed differently: {'; '.join(filter(None, parts)) or 'in another order'}"


def _edits(transforms: tuple[TransformConfig, ...]) -> list[_Edit]:
    """The edits with their values; that of an entry of a list is the entry."""
    edits = []
    for transform in transforms:
        for at, name in edits_of(transform):
            edits.append((name, value_at(transform.options, at[len(transform.at) :])))
    return edits
