"""Embeddings between a caller of one language and a target of another."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from engine.translations.embeddings.language import EmbeddingLanguage, EmbeddingRequest
from engine.translations.neutral import refusals
from engine.translations.neutral.events import BrokenAnswer, UpstreamError, UsageSource, no_usage
from engine.translations.neutral.language import RequestLine, TargetRequest
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.refusals import LossRules
from engine.values.units import format_count


class EmbeddingTranslation(Struct, frozen=True):
    """Callers speak `source`, the target speaks `target`. The counterpart of Translation."""

    source: EmbeddingLanguage
    target: EmbeddingLanguage

    def request(
        self,
        body: bytes,
        line: RequestLine,
        model: str,
        rules: LossRules,
        *,
        ask_usage: bool = True,
    ) -> EmbeddingExchange:
        """Raises GatewayError 400. `ask_usage` matters to streams alone."""
        refusals.check_objects(body)
        refusals.check_texts(body)
        losses = Losses(self.source.hints)
        try:
            request = self.source.read_request(refusals.check_text(body), line)
            request.size = len(body)
            for place in request.unread:
                losses.add(place)
            target_request = self.target.write_request(request, model, losses)
        except refusals.UNREADABLE as error:
            raise refusals.unreadable_request(error) from error
        refusals.refuse_losses(losses, rules, request.model)
        return EmbeddingExchange(self, request, target_request, losses.fields())


class EmbeddingExchange(Struct, frozen=True):
    """One translated request. `dropped` are the caller's fields that were not carried."""

    translation: EmbeddingTranslation
    request: EmbeddingRequest
    target_request: TargetRequest
    dropped: list[str]

    def answer(self, body: bytes, usage: UsageSource = no_usage) -> bytes:
        """`usage` is what the caller is told. Raises BrokenAnswer or UpstreamError."""
        try:
            answer = self.translation.target.read_answer(refusals.check_text(body))
            count, expected = len(answer.vectors), len(self.request.inputs)
            if count != expected:
                vectors = format_count(count, "vector")
                raise BrokenAnswer(f"the upstream's answer has {vectors}, not {expected}")
            if (used := usage()) is not None:
                answer.input_tokens = used.input
            return self.translation.source.write_answer(answer, self.request)
        except refusals.UNREADABLE as error:
            raise refusals.unreadable_answer(error) from error

    def for_answer(self) -> EmbeddingExchange:
        target_request = replace(self.target_request, body=b"")
        return EmbeddingExchange(self.translation, self.request, target_request, self.dropped)

    def stream(self, usage: UsageSource = no_usage) -> NoStream:
        return NoStream()

    def error(self, status: int, document: Any) -> UpstreamError:
        return self.translation.target.read_error(status, document)


class NoStream:
    """The counterpart of StreamTranslator where no answer is a stream."""

    started = ended = False

    def event(self, data: bytes = b"") -> bytes:
        raise BrokenAnswer("the upstream's answer is a stream, which embeddings never are")

    end = event

    def take(self) -> bytes:
        return b""
