"""The features that targets of a model lack for callers of other formats of chat.

For each feature of the caller's language, a request is translated for the target.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from engine import translations
from engine.config.config import Config
from engine.config.models import Model
from engine.config.operations_by_model import ModelOperations, OperationTarget
from engine.plan.plan import PlanResult
from engine.source.problem import Level
from engine.translations.neutral.language import Feature, RequestLine
from engine.translations.neutral.refusals import LossRules
from engine.values.errors import GatewayError
from engine.values.wildcard import Patterns

_MAX_CACHED = 10_000


class FormatTargets(NamedTuple):
    """The targets of a model for callers of one language, in the order of its config."""

    language: str
    targets: Sequence[OperationTarget]


def formats(model: str, operations: ModelOperations) -> Iterator[FormatTargets]:
    """The languages in which a model can be called, each once."""
    languages = set()
    for operation in operations.of(model):
        if operation.language and operation.language not in languages:
            languages.add(operation.language)
            yield FormatTargets(operation.language, tuple(operations.targets(model, operation)))


def refused_features(language: str, target: OperationTarget, model: Model) -> Sequence[Feature]:
    """The features of a language that the strict translation for a target refuses; `model` is the
    entry of the target, whose `drop` applies."""
    return _refused_by(language, target, model, lossy=False)


def _refused_by(
    language: str, target: OperationTarget, model: Model, *, lossy: bool
) -> Sequence[Feature]:
    if not target.language:
        return ()
    name = (target.target.model or model.name).replace("*", "x")
    return _refused(language, target.language, name, model.drop, lossy)


@lru_cache(_MAX_CACHED)
def _refused(
    source: str, target: str, model: str, drop: tuple[str, ...], lossy: bool
) -> tuple[Feature, ...]:
    translation = translations.translation(source, target)
    rules, line = LossRules(lossy, Patterns(drop)), RequestLine(model=model)
    features = []
    for feature in translation.source.features.features:
        body = translation.source.features.request(feature, model)
        try:
            translation.request(body, line, model, rules)
        except GatewayError:
            features.append(feature)
    return tuple(features)


def note_limits(plan_result: PlanResult) -> None:
    """Add a note for each model, format and target with the features that callers cannot use."""
    assert plan_result.plan is not None
    config, operations = plan_result.plan.config, plan_result.plan.model_operations()
    for model in config.models.values():
        for language, targets in formats(model.name, operations):
            for upstream, message in _limits(language, targets, config):
                words = f"'{model.name}' called in {language} {message}"
                hint = f"they are translated into {upstream} (see docs/reference/translation.md)"
                findings = plan_result.findings
                findings.note(config.source, model.at, Level.INFO, "MW425", words, hint, key=True)


def _limits(
    language: str, targets: Sequence[OperationTarget], config: Config
) -> Iterator[tuple[str, str]]:
    """The language and upstream of each translated target, and the features that it lacks."""
    for target in targets:
        entry = config.models[target.entry]
        lossy = entry.translate == "lossy"
        refused = _refused_by(language, target, entry, lossy=lossy)
        features = refused_features(language, target, entry) if lossy else ()
        dropped = [feature for feature in features if feature not in refused]
        parts = [f"loses {_by_group(dropped)}"] if dropped else []
        if refused:
            parts.append(f"refuses {_by_group(refused)}")
        if parts:
            upstream = f"{target.language} for upstream '{target.target.upstream}'"
            yield upstream, "; it ".join(parts)


def _by_group(features: Sequence[Feature]) -> str:
    """Features as text: `sampling: n, seed; answer: audio`."""
    groups: dict[str, list[str]] = {}
    for feature in features:
        groups.setdefault(feature.group, []).append(feature.name)
    return "; ".join(f"{group}: {', '.join(names)}" for group, names in groups.items())
