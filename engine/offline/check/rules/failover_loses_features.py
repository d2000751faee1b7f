"""A failover to a target that lacks features of the first target: requests that use them do not
fail over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from engine.config.models import Model
from engine.offline.check.audit import AuditCase
from engine.offline.check.translation_limits import formats, refused_features
from engine.translations.neutral.language import Feature

_MAX_WARNINGS = 20
_MAX_NAMED = 5


def check(case: AuditCase) -> None:
    losing = (
        (model, upstream, features)
        for model in case.config.models.values()
        if model.fallback or len(_dialects(case, model)) > 1
        for upstream, features in _losses(case, model)
    )
    first = list(islice(losing, _MAX_WARNINGS + 1))  # each takes some milliseconds to find
    for number, (model, upstream, features) in enumerate(first[:_MAX_WARNINGS], 1):
        names = [feature.name for feature in features]
        more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
        message = f"requests to '{model.name}' with {', '.join(names[:_MAX_NAMED])}{more} "
        message += f"do not fail over to upstream '{upstream}', which does not support them"
        if number == _MAX_WARNINGS and len(first) > _MAX_WARNINGS:
            message += "; other models have such failovers as well"
        hint = "`translate: lossy` and `drop` serve them without; `check -v` lists all fields"
        case.warn(model.at, "MW424", message, hint, key=True)


def _dialects(case: AuditCase, model: Model) -> set[str]:
    """The dialects of a model's own targets; targets of one dialect have the same features."""
    return {case.config.upstreams[target.upstream].dialect for target in model.to}


def _losses(case: AuditCase, model: Model) -> Iterator[tuple[str, Sequence[Feature]]]:
    """The first upstream that loses features for callers of a format that the first target of a
    model speaks, and the features."""
    models = case.config.models
    for language, targets in formats(model.name, case.operations):
        if not targets or targets[0].language:
            continue
        for target in targets[1:]:
            entry = models[target.entry]
            if entry.translate == "strict" and (
                features := refused_features(language, target, entry)
            ):
                yield target.target.upstream, features
                return
