"""A chat between a caller of one language and a target of another.

`Translation.request` translates the request; the `TranslatedExchange` that it returns translates
the answer, which needs to know what was asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from engine.translations.language import Language, RequestLine, WrittenRequest
from engine.translations.neutral.answer import collect
from engine.translations.neutral.content import ToolCall
from engine.translations.neutral.events import BrokenAnswer, Event, Law, Open, UpstreamError
from engine.translations.neutral.losses import Loss, Losses
from engine.translations.neutral.members import WrongType
from engine.translations.neutral.request import ChatRequest
from engine.values.errors import GatewayError
from engine.values.wildcard import Patterns


@dataclass(frozen=True, slots=True)
class LossRules:
    """What may be lost of a request: everything that cannot be carried (`lossy`), or the fields
    that the wildcards in `drop` cover."""

    lossy: bool = False
    drop: Patterns = field(default_factory=lambda: Patterns(()))


@dataclass(frozen=True, slots=True)
class Translation:
    """Callers speak `source`, the target speaks `target`."""

    source: Language
    target: Language

    def request(
        self, body: bytes, line: RequestLine, model: str, rules: LossRules
    ) -> TranslatedExchange:
        """The request for a target that knows the model as `model`.

        Raises GatewayError 400 for a request that is not one of the source language, and for one
        that the target cannot be asked, with the name of the field.
        """
        losses = Losses(self.source.hints)
        try:
            request = self.source.read_request(body, line)
            for place in request.unread:
                losses.add(place)
            written = self.target.write_request(request, model, losses)
        except WrongType as error:
            raise _wrong_type(error) from error
        refused = None if rules.lossy else losses.refused(rules.drop)
        if refused is not None:
            raise _cannot_carry(refused, request.model)
        return TranslatedExchange(self, request, written, losses.fields())


@dataclass(frozen=True, slots=True)
class TranslatedExchange:
    """One translated request. `dropped` are the caller's fields that were not carried."""

    translation: Translation
    request: ChatRequest
    written: WrittenRequest
    dropped: list[str]

    def answer(self, body: bytes) -> bytes:
        """An answer in one piece, translated; as a stream if the caller asked for one.

        Raises BrokenAnswer or UpstreamError.
        """
        output = _Output(self)
        try:
            output.add(self.translation.target.read_answer(body))
        except WrongType as error:
            raise _broken(error) from error
        return output.take() + output.end()

    def stream(self) -> StreamTranslator:
        """A translator for the events of a streamed answer."""
        return StreamTranslator(self)

    def error(self, status: int, document: Any) -> UpstreamError:
        """The error in an error response; `document` is its JSON, None for none."""
        return self.translation.target.read_error(status, document)


class StreamTranslator:
    """Translates the server-sent events of one stream; into an answer in one piece if the caller
    asked for that."""

    def __init__(self, exchange: TranslatedExchange) -> None:
        self._reader = exchange.translation.target.stream_reader()
        self._output = _Output(exchange)

    def event(self, data: bytes) -> bytes:
        """What one event comes to, given its data: whole events, or `b""` for none.

        Raises BrokenAnswer or UpstreamError; what preceded the error is lost.
        """
        try:
            self._output.add(self._reader.read(data))
        except WrongType as error:
            raise _broken(error) from error
        return self._output.take()

    def end(self) -> bytes:
        """What the end of the upstream's stream comes to. Raises BrokenAnswer."""
        self._output.add(self._reader.end())
        return self._output.take() + self._output.end()


class _Output:
    """What a caller gets of neutral events: a stream, or an answer in one piece at the end."""

    def __init__(self, exchange: TranslatedExchange) -> None:
        language, request = exchange.translation.source, exchange.request
        self._exchange = exchange
        self._writer = language.stream_writer(request) if request.stream else None
        self._names = exchange.written.tool_names
        self._law = Law()
        self._events: list[Event] = []
        self._written = b""

    def add(self, events: Iterable[Event]) -> None:
        """Write events. Raises BrokenAnswer for those against the law."""
        writer = self._writer
        for event in events:
            if isinstance(event, Open) and isinstance(event.block, ToolCall):
                event.block.name = self._names.get(event.block.name, event.block.name)
            self._law.check(event)
            if writer is None:
                self._events.append(event)
            else:
                self._written += writer.write(event)

    def take(self) -> bytes:
        """The events of a stream that were written since the last call."""
        written, self._written = self._written, b""
        return written

    def end(self) -> bytes:
        """The answer in one piece, for a caller who did not ask for a stream."""
        if self._writer is not None:
            return b""
        exchange = self._exchange
        return exchange.translation.source.write_answer(collect(self._events), exchange.request)


def _wrong_type(error: WrongType) -> GatewayError:
    message = f"Invalid value for '{error.place}': expected {error.expected}."
    return GatewayError(400, "invalid_type", message, param=error.place)


def _cannot_carry(loss: Loss, model: str) -> GatewayError:
    reason = f": {loss.reason}" if loss.reason else ""
    return GatewayError(
        400,
        "unsupported_parameter",
        f"The model '{model}' cannot be asked with '{loss.place}'{reason}. Leave it out, or "
        "ask the operator to drop it for this model.",
        param=loss.place,
    )


def _broken(error: WrongType) -> BrokenAnswer:
    return BrokenAnswer(f"the upstream's answer is not in its format: {error}")
