"""The targets of a request in the report of a rehearsal, and its translation for them."""

from __future__ import annotations

from collections.abc import Iterator

from engine.config.config import Config
from engine.config.models import Model, RuleConfig, TargetConfig
from engine.exchange.exchange import Exchange
from engine.exchange.member_protocols import Target
from engine.offline.rehearsal.observation import Rehearsal
from engine.offline.rehearsal.target_translations import TargetTranslation
from engine.plan.route import Route
from engine.values.trees import Json


def target_reports(route: Route, rehearsal: Rehearsal, config: Config) -> list[Json]:
    """The targets in the order of attempts, if each draw takes the first one and their loads are
    unknown."""
    if route.to:
        choose = route.choose.text
        return [
            {
                "upstream": t.upstream,
                "model": t.model,
                "weight": t.weight,
                "max_in_flight": t.max_in_flight,
                "choose": choose,
            }
            for t in route.to
        ]
    exchange = rehearsal.exchange
    if exchange is None:
        return []
    translations = rehearsal.translations or [None] * len(exchange.model.targets)
    pairs = zip(exchange.model.targets, translations, strict=True)
    return [_model_target(target, each, exchange, config) for target, each in pairs]


def _model_target(
    target: Target, translation: TargetTranslation | None, exchange: Exchange, config: Config
) -> Json:
    branch, is_fallback = _branch_of(target, exchange, config)
    return {
        "upstream": target.upstream.name,
        "model": target.model or exchange.model.name,
        "weight": target.weight,
        "max_in_flight": next((to.max_in_flight for to in _alike(target, branch)), None),
        "choose": branch.choose.text,
        "fallback": target.exact_entry if is_fallback else "",
        "translation": translation_report(translation),
    }


def _branch_of(
    target: Target, exchange: Exchange, config: Config
) -> tuple[Model | RuleConfig, bool]:
    """The model or rule that has a target of a request, and whether it is only a fallback."""
    model = exchange.model
    entry = config.models[target.entry]
    is_fallback = target.exact_entry not in ("", model.name)
    if model.rule is None or is_fallback:
        return entry, is_fallback
    rule = entry.when[model.rule]
    return (rule, False) if any(_alike(target, rule)) else (entry, True)


def _alike(target: Target, branch: Model | RuleConfig) -> Iterator[TargetConfig]:
    """The targets in the config that a target may be."""
    key = (target.upstream.name, target.configured)
    return (to for to in branch.to if (to.upstream, to.model) == key)


def translation_report(translation: TargetTranslation | None) -> Json | None:
    """The translation of the request for a target; None without one, or if a stage refused it."""
    if translation is None:
        return None
    refusal = translation.refusal
    return {
        "from": translation.caller_language,
        "into": translation.target_language,
        "dropped": list(translation.dropped),
        "refusal": refusal
        and {"code": refusal.code, "message": refusal.message, "param": refusal.param},
    }
