"""The translations of a request for all of its targets, also for those that are not attempted."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import cast

from msgspec import Struct

from engine.exchange.exchange import Exchange
from engine.plan.plan import Plan
from engine.plan.route import Route
from engine.translations.neutral.language import TargetRequest
from engine.upstream.requests.build_request import edit_request
from engine.upstream.requests.translated_request import (
    RouteTranslations,
    TranslationTables,
    translated_request,
)
from engine.upstream.targets.target import Target
from engine.values.errors import GatewayError


class TargetTranslation(Struct, frozen=True):
    """The request for a target that speaks another language of chat.


    `model` is the target's name for the model. `target_request` is None if the request cannot be
    translated; `refusal` is then the reason. `dropped` are the caller's fields that are dropped.
    """

    upstream: str
    model: str
    caller_language: str
    target_language: str
    target_request: TargetRequest | None = None
    dropped: Sequence[str] = ()
    refusal: GatewayError | None = None


def translate_for_targets(
    plan: Plan, route: Route, exchange: Exchange
) -> list[TargetTranslation | None]:
    """An entry for each target of the exchange, in the order of attempts; None for a target without
    a translation. The body of the exchange must still be open."""
    if route.model is None:
        return []
    operations, operation = plan.model_operations(), route.by_model
    tables = TranslationTables(operations, plan.config.models)
    translations = RouteTranslations(operation, tables, time.time)
    entries: list[TargetTranslation | None] = []
    for target in cast("Sequence[Target]", exchange.model.targets):
        language = operations.language(target.entry, target.upstream.dialect, operation)
        languages = operation.language, language or operation.language
        entries.append(_translate(translations, exchange, target, languages))
    return entries


def _translate(
    translations: RouteTranslations, exchange: Exchange, target: Target, languages: tuple[str, str]
) -> TargetTranslation | None:
    upstream, model = target.upstream.name, target.model or exchange.model.name
    try:
        translated = translations.translate(exchange, target)
    except GatewayError as error:
        return TargetTranslation(upstream, model, *languages, refusal=error)
    if translated is None:
        return None
    request = translated.target_request
    if target.edits:
        proxy_request = translated_request(target, exchange, translated)
        edit_request(target, proxy_request, exchange)
        assert isinstance(proxy_request.body, bytes)
        request = TargetRequest(proxy_request.body, proxy_request.path, proxy_request.query)
    return TargetTranslation(
        upstream,
        model,
        *languages,
        target_request=request,
        dropped=translated.dropped,
    )
