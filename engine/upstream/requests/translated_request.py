"""The translations of a route, decided at start-up, and the translated request for a target."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from msgspec import Struct

from engine import translations
from engine.config.model_operation import ModelOperation
from engine.config.models import Model
from engine.config.operations_by_model import Kind, ModelOperations
from engine.exchange.exchange import MISSING, Exchange
from engine.objects.summaries import Summaries
from engine.process.loop_turn import FEW_BYTES
from engine.process.preemption import PREEMPTION
from engine.translations import AnyExchange, AnyTranslation
from engine.translations.neutral.language import Language, RequestLine
from engine.translations.neutral.refusals import LossRules
from engine.translations.vendors.openai_request_fields import is_responses_request
from engine.upstream.requests.build_request import request_headers
from engine.upstream.targets.target import Target
from engine.values.errors import GatewayError, without_frames
from engine.values.event_json import json_or_none
from engine.values.json_edit import Edit, apply_edits, edits
from engine.values.media_types import essence
from engine.values.upstream_request import UpstreamRequest
from engine.values.wildcard import Patterns


class TargetTranslation(Struct, frozen=True):
    """How the requests of a route are translated for a target."""

    translation: AnyTranslation
    rules: LossRules


_Table = Mapping[tuple[str, str], TargetTranslation]


class TranslationTables:
    """How requests of each operation are translated, by the entry under `models` and the dialect of
    a target. The operations of a kind share a table."""

    def __init__(self, operations: ModelOperations, models: Mapping[str, Model]) -> None:
        self._operations = operations
        self._models = models
        self._tables: dict[tuple[Kind, str], tuple[_Table, _Table]] = {}

    def of(self, operation: ModelOperation, source: str) -> tuple[_Table, _Table]:
        """The table of an operation whose requests are in the language `source`; and that of such
        requests in another language, for targets that speak `source`."""
        key = self._operations.kind(operation), source
        if key not in self._tables:
            rows = [*self._rows(operation, source)]
            self._tables[key] = (
                {place: row for is_own, place, row in rows if not is_own},
                {place: row for is_own, place, row in rows if is_own},
            )
        return self._tables[key]

    def _rows(
        self, operation: ModelOperation, source: str
    ) -> Iterator[tuple[bool, tuple[str, str], TargetTranslation]]:
        for entry, model in self._models.items():
            for dialect in self._operations.dialects(entry):
                name = self._operations.language(entry, dialect, operation)
                may_be_other = source in translations.MISPLACED and model.translate != "off"
                if name or (name == "" and may_be_other):
                    translation = translations.translation(source, name or source)
                    rules = LossRules(model.translate == "lossy", Patterns(model.drop))
                    yield not name, (entry, dialect), TargetTranslation(translation, rules)


class RouteTranslations:
    """The translations of the routes whose operations have one kind, an equal `stream`, whether the
    path, not a member of the body, asks for a stream, and an equal `compacts`, whether they compact
    conversations. `summaries` seals those that other vendors' models write, None without a key."""

    def __init__(
        self,
        operation: ModelOperation,
        tables: TranslationTables | None,
        clock: Callable[[], float],
        summaries: Summaries | None = None,
    ) -> None:
        """`tables` are None for a route without models."""
        source = translations.language_of(operation.dialect, operation.path)
        source = source if operation.language else None
        counted_language = translations.language(operation.counts) if operation.counts else None
        self._relayed = source or counted_language
        self.stream = source is not None and operation.path.endswith(source.stream_suffix or "\0")
        self.compacts = isinstance(source, Language) and source.compacts(operation.path)
        self._clock, self._summaries = clock, summaries
        self._translations: _Table = {}
        self._own: _Table = {}
        if source is not None and tables is not None:
            self._translations, self._own = tables.of(operation, source.name)

    def __bool__(self) -> bool:
        """Whether a request may need a translation, or the removal of signatures."""
        return self._relayed is not None or bool(self._translations)

    def requests(self, exchange: Exchange) -> TranslatedRequests | None:
        """The translations of a request, None if it is relayed to every target."""
        if self._own and is_responses_request(exchange.body.buffer):
            return TranslatedRequests(self, exchange, is_other=True)
        return TranslatedRequests(self, exchange) if self._translations else None

    def of(self, target: Target, *, is_other: bool) -> TargetTranslation | None:
        """How a request is translated for a target, None if it is relayed. `is_other`: it is not in
        the language of its path."""
        key = target.entry, target.upstream.dialect
        return self._translations.get(key) or (self._own.get(key) if is_other else None)

    def translate(self, exchange: Exchange, target: Target) -> AnyExchange | None:
        """The translated request for a target, None if it is relayed. Raises GatewayError 400 for
        one that cannot be translated.
        """
        requests = self.requests(exchange)
        translation = None if requests is None else self.of(target, is_other=requests.is_other)
        return None if translation is None else self.request(exchange, target, translation)

    def request(
        self, exchange: Exchange, target: Target, translation: TargetTranslation
    ) -> AnyExchange:
        """The translated request for a target of this translation. Raises GatewayError 400."""
        # Not set if the body was not parsed: it is not validated and does not name the model.
        media_type = exchange.content.media_type or essence(exchange.header("CONTENT_TYPE") or "")
        if media_type != "application/json":
            message = "The request must be JSON (Content-Type: application/json)."
            raise GatewayError(400, "invalid_content_type", message)
        summaries = self._summaries
        line = RequestLine(
            model=exchange.model.name,
            stream=self.stream,
            query=exchange.query,
            id=exchange.request_id,
            time=int(self._clock()),
            compacts=self.compacts,
            seal=None if summaries is None else partial(summaries.seal, caller=exchange.caller),
        )
        # Not the edits of the exchange: they ask for usage in the caller's format.
        text = bytes(exchange.body.buffer)
        if exchange.record.turn is not None and exchange.record.turn.items is not None:
            text = _without_store(text, exchange.content.value)
        return translation.translation.request(
            text,
            line,
            target.model or exchange.model.name,
            translation.rules,
            ask_usage=target.upstream.ask_usage,
        )

    def relay_edits(self, exchange: Exchange) -> list[Edit]:
        """The edits of a request without a translation: they remove the signatures of thoughts that
        another vendor has made, because the target would refuse them."""
        language, body = self._relayed, exchange.body.buffer
        if language is None or body.rfind(language.seal) < 0:
            return []
        value = exchange.content.value
        changes = language.without_seals(json_or_none(bytes(body)) if value is MISSING else value)
        return edits(body, changes) if changes else []


def _without_store(text: bytes, value: object) -> bytes:
    """A request of the Responses API without `store: true`, which the gateway does itself."""
    if not isinstance(value, dict) or value.get("store") is not True:
        return text
    return apply_edits(text, edits(text, {("store",): None}))


_Key = tuple[str, str, str]


class TranslatedRequests:
    """The translations of one request, each made before the first attempt of its target. Targets of
    equal entry, upstream and model share it, as the replicas of a target do. `is_other`: the
    request is not in the language of its path."""

    def __init__(
        self, translations: RouteTranslations, exchange: Exchange, *, is_other: bool = False
    ) -> None:
        self._translations = translations
        self._exchange = exchange
        self.is_other = is_other
        self._results: dict[_Key, AnyExchange | GatewayError] = {}

    def carries(self, target: Target) -> bool:
        """Whether a target can get the request, unchanged or translated."""
        translation = self._translations.of(target, is_other=self.is_other)
        if translation is None:
            return True
        key = _key(target)
        result = self._results.get(key)
        if result is None:
            try:
                if self._exchange.body.size > FEW_BYTES:
                    PREEMPTION.begin()
                result = self._translations.request(self._exchange, target, translation)
            except GatewayError as error:
                result = without_frames(error)
            finally:
                PREEMPTION.end()
            self._results[key] = result
        return not isinstance(result, GatewayError)

    def refusal(self, targets: Sequence[Target]) -> GatewayError | None:
        """The error if no target can get the request; None if one can, or was not checked yet."""
        results = [self._results.get(_key(target)) for target in targets]
        errors = [result for result in results if isinstance(result, GatewayError)]
        return errors[0] if len(errors) == len(targets) else None

    def translated(self, target: Target) -> AnyExchange | None:
        """The translated request for a target after `carries`; None if it gets it unchanged."""
        result = self._results.get(_key(target)) if self._results else None
        return None if isinstance(result, GatewayError) else result


def _key(target: Target) -> _Key:
    return target.entry, target.upstream.name, target.model


def translated_request(
    target: Target, exchange: Exchange, translated: AnyExchange
) -> UpstreamRequest:
    """The request for a target that gets a translated body."""
    upstream, request = target.upstream, translated.target_request
    fields = [
        ("content-type", "application/json"),
        *translated.translation.target.headers,
    ]
    fields = request_headers(fields, upstream, exchange)
    path = upstream.client.base_path + request.path
    return UpstreamRequest("POST", upstream.client.host, path, request.query, fields, request.body)
