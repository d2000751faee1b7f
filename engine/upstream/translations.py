"""Which requests of a route are translated, decided at start-up, and the request that a target of
another language gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from engine import translations
from engine.config.model_operations import ModelOperation, ModelOperations
from engine.config.models import Model
from engine.exchange.exchange import Exchange
from engine.translations.language import RequestLine
from engine.translations.translation import LossRules, TranslatedExchange, Translation
from engine.upstream.client.request import UpstreamRequest
from engine.upstream.request import request_headers
from engine.upstream.target import Target
from engine.values.errors import GatewayError
from engine.values.wildcard import Patterns


@dataclass(frozen=True, slots=True)
class TargetTranslation:
    """How the requests of a route are translated for a target."""

    translation: Translation
    rules: LossRules


class RouteTranslations:
    """The translations of one route, by the entry under `models` and the dialect of a target."""

    def __init__(
        self,
        operation: ModelOperation,
        operations: ModelOperations,
        models: Mapping[str, Model],
        clock: Callable[[], float],
    ) -> None:
        source = translations.language(operation.language) if operation.language else None
        self._stream = source is not None and operation.path.endswith(source.stream_suffix or "\0")
        self._clock = clock
        self._translations: dict[tuple[str, str], TargetTranslation] = {}
        if source is None:
            return
        for entry, model in models.items():
            rules = LossRules(model.translate == "lossy", Patterns(model.drop))
            for dialect in translations.by_dialect():
                name = operations.language(entry, dialect, operation)
                if name:
                    translation = Translation(source, translations.language(name))
                    self._translations[entry, dialect] = TargetTranslation(translation, rules)

    def __bool__(self) -> bool:
        """Whether any target needs one."""
        return bool(self._translations)

    def translate(self, exchange: Exchange, target: Target) -> TranslatedExchange | None:
        """The translated request for a target, None for a target that takes it as it is.

        Raises GatewayError 400 for a request that cannot be carried.
        """
        found = self._translations.get((target.entry, target.upstream.dialect))
        if found is None:
            return None
        if exchange.media_type != "application/json":
            message = "A chat request must be JSON (Content-Type: application/json)."
            raise GatewayError(400, "invalid_content_type", message)
        line = RequestLine(
            model=exchange.model,
            stream=self._stream,
            query=exchange.query,
            id=exchange.request_id,
            time=int(self._clock()),
        )
        body = exchange.body.with_replaced(*exchange.edits) if exchange.edits else exchange.body
        model = target.model or exchange.model
        return found.translation.request(b"".join(body.chunks()), line, model, found.rules)


def translated_request(
    target: Target, exchange: Exchange, translated: TranslatedExchange
) -> UpstreamRequest:
    """The request for a target that gets a translated body."""
    upstream, written = target.upstream, translated.written
    fields = [
        ("content-type", "application/json"),
        *translated.translation.target.headers,
    ]
    fields = request_headers(fields, upstream, exchange)
    path = upstream.client.base_path + written.path
    return UpstreamRequest("POST", upstream.client.host, path, written.query, fields, written.body)
