"""Transforms of routes, models, upstreams and targets: added, changed or removed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.config.models import TargetConfig
from engine.config.transforms import TransformConfig
from engine.offline.diff.difference import Difference, Effect, Side
from engine.offline.transform_edits import edits_of
from engine.policies import transform_of


def differences(old: Side, new: Side) -> Iterator[Difference]:
    before, after = _transforms(old), _transforms(new)
    for subject in {**before, **after}:
        was, now = before.get(subject, ()), after.get(subject, ())
        if was == now:
            continue
        place = new.place(now[0].at) if now else old.place(was[0].at)
        words = f"has another transform: {', '.join(_edits(now))}"
        if not (was and now):
            edits = ", ".join(_edits(now))
            words = f"has a transform now: {edits}" if now else "no longer has a transform"
        yield Difference(Effect.CHANGED, "transform-changed", place, (subject,), words)


def _transforms(side: Side) -> dict[str, tuple[TransformConfig, ...]]:
    """The transforms by the name of their subject, without empty ones."""
    config = side.config
    by_subject = {f"upstream {name}": entry.transform for name, entry in config.upstreams.items()}
    for name, model in config.models.items():
        by_subject[f"model {name}"] = model.transform
        by_subject |= _of_targets(f"model {name}", model.to)
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


def _edits(transforms: tuple[TransformConfig, ...]) -> list[str]:
    return [edit for transform in transforms for _, edit in edits_of(transform)]
