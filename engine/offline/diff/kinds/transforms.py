"""Transforms of upstreams, models and targets: added, changed or removed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.config.config import Config
from engine.config.models import TargetConfig
from engine.config.transforms import TransformConfig
from engine.offline.diff.difference import Difference, Effect, Side


def differences(old: Side, new: Side) -> Iterator[Difference]:
    before, after = _transforms(old.config), _transforms(new.config)
    for subject, was in before.items():
        if subject not in after and was:
            words = "its transform is removed"
            yield Difference(
                Effect.CHANGED, "transform-removed", old.place(was[0].at), (subject,), words
            )
    for subject, now in after.items():
        was = before.get(subject, ())
        if was == now:
            continue
        place = new.place(now[0].at if now else was[0].at)
        word = "changed" if was else "added"
        words = f"its transform is {word}: {', '.join(_edits(now))}"
        yield Difference(Effect.CHANGED, f"transform-{word}", place, (subject,), words)


def _transforms(config: Config) -> dict[str, tuple[TransformConfig, ...]]:
    """The transforms by what they belong to, in words; only entries that have some."""
    found = {f"upstream {name}": entry.transform for name, entry in config.upstreams.items()}
    for name, model in config.models.items():
        found |= _of_targets(f"model {name}", model.to)
    for index, route in enumerate(config.routes):
        found |= _of_targets(f"route {index + 1}", route.to)
    return {subject: transforms for subject, transforms in found.items() if transforms}


def _of_targets(
    subject: str, targets: tuple[TargetConfig, ...]
) -> Mapping[str, tuple[TransformConfig, ...]]:
    return {
        f"{subject}, target {index + 1}": target.transform for index, target in enumerate(targets)
    }


def _edits(transforms: tuple[TransformConfig, ...]) -> list[str]:
    """The edits without their values, which may be secrets: `request.header.set x-team`."""
    names: list[str] = []
    for transform in transforms:
        for side, parts in transform.options.items():
            for part, kinds in parts.items():
                if not isinstance(kinds, dict) or part == "path":
                    names.append(f"{side}.{part}")
                    continue
                names += [
                    f"{side}.{part}.{kind} {name}"
                    for kind, edited in kinds.items()
                    for name in edited
                ]
    return names
