"""A chat between a caller of one language and a target of another.

`Translation.request` translates the request; the `TranslatedExchange` that it returns translates
the answer, which needs to know what was asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
        """An answer in one piece, translated. Raises BrokenAnswer or UpstreamError."""
        try:
            events = self._with_names(self.translation.target.read_answer(body))
            return self.translation.source.write_answer(collect(events), self.request)
        except WrongType as error:
            raise _broken(error) from error

    def stream(self) -> StreamTranslator:
        """A translator for the events of a streamed answer."""
        return StreamTranslator(self)

    def error(self, status: int, document: Any) -> UpstreamError:
        """The error in an error response; `document` is its JSON, None for none."""
        return self.translation.target.read_error(status, document)

    def _with_names(self, events: Iterable[Event]) -> Iterable[Event]:
        return rename_tools(events, self.written.tool_names)


class StreamTranslator:
    """Translates the server-sent events of one stream."""

    def __init__(self, exchange: TranslatedExchange) -> None:
        self._reader = exchange.translation.target.stream_reader()
        self._writer = exchange.translation.source.stream_writer(exchange.request)
        self._names = exchange.written.tool_names
        self._law = Law()

    def event(self, data: bytes) -> bytes:
        """What one event comes to, given its data: whole events, or `b""` for none.

        Raises BrokenAnswer or UpstreamError.
        """
        try:
            return self._write(self._reader.read(data))
        except WrongType as error:
            raise _broken(error) from error

    def end(self) -> bytes:
        """What the end of the upstream's stream comes to. Raises BrokenAnswer."""
        return self._write(self._reader.end())

    def _write(self, events: Iterable[Event]) -> bytes:
        if self._names:
            events = rename_tools(events, self._names)
        output = b""
        for event in events:
            self._law.check(event)
            output += self._writer.write(event)
        return output


def rename_tools(events: Iterable[Event], names: dict[str, str]) -> Iterator[Event]:
    """The events, with the caller's names of tools."""
    for event in events:
        if isinstance(event, Open) and isinstance(event.block, ToolCall):
            event.block.name = names.get(event.block.name, event.block.name)
        yield event


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
