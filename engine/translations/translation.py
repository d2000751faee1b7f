"""Translation of a chat between a caller of one language and a target of another.

`Translation.request` translates the request. It returns a `TranslatedExchange`, which has the
request and translates the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from engine.translations.neutral import events, language, refusals
from engine.translations.neutral.answer import Assembly
from engine.translations.neutral.answer_json import Surrogates
from engine.translations.neutral.answer_state import AnswerState
from engine.translations.neutral.calls import MAX_ARGUMENTS as MAX_NAMES
from engine.translations.neutral.calls import AnswerTool, FirstCall
from engine.translations.neutral.content import ToolCall, ToolResult
from engine.translations.neutral.json_members import on_one_line
from engine.translations.neutral.losses import SPARE, Losses, check_written
from engine.translations.neutral.parameters import with_token_limit
from engine.translations.neutral.refusals import LossRules
from engine.translations.neutral.request import ChatRequest, with_unique_tools
from engine.translations.neutral.turns import (
    kinds_of,
    with_results,
    with_substitutes,
    with_unique_calls,
)
from engine.translations.vendors.openai_request_fields import is_responses_request
from engine.values.wildcard import Patterns

MAX_ANSWER = 32_000_000
"""The largest complete answer that is translated, in bytes."""

MAX_ANSWER_OBJECTS = 500_000
"""JSON objects of such an answer: 20,000 tokens with the 20 most likely in place of each."""


class Translation(Struct, frozen=True):
    """Callers speak `source`, the target speaks `target`, which is another language: a request for
    a target of the caller's own is relayed. Some are of the language `other` (Cursor's)."""

    source: language.Language
    target: language.TargetLanguage
    other: language.Language | None = None

    def request(
        self,
        body: bytes,
        line: language.RequestLine,
        model: str,
        rules: LossRules,
        *,
        ask_usage: bool = True,
    ) -> TranslatedExchange:
        """Translate a request for a target whose name for the model is `model`. With `ask_usage` a
        stream reports usage even if the caller did not request that.

        Raises GatewayError 400 for a request that is invalid in the source language, or that has
        fields which the target does not support; the message names them.
        """
        refusals.check_objects(body)
        source = self.other if self.other and is_responses_request(body) else self.source
        losses = Losses(source.hints)
        try:
            request = source.read_request(refusals.check_text(body), line)
            request.ask_usage, request.size = ask_usage, len(body)
            for place in request.unread:
                losses.add(place)
            common = self._common_request(request, model, losses)
            target_request = self.target.write_request(common, model, losses)
            if len(target_request.body) > SPARE:
                check_written(target_request.body, len(body), request.place_of("messages"))
        except refusals.UNREADABLE as error:
            raise refusals.unreadable_request(error) from error
        if request.compaction is not None:
            losses.withdraw(Patterns(("tool_choice",)))  # calls in a summary are left out
        refusals.refuse_losses(losses, rules, request.model, request.error_details)
        refusals.refuse_silence(request, needs_turns=source.needs_turns)
        return TranslatedExchange(self, request, target_request, losses.fields())

    def _common_request(self, request: ChatRequest, model: str, losses: Losses) -> ChatRequest:
        """The request with what every target can have: unique calls and tools, and a token limit.
        Raises GatewayError 400."""
        kinds = kinds_of(request.messages)
        common = with_substitutes(request, kinds)
        if request.missing_turns:
            refusals.refuse_missing_turns(request)
        if request.compaction is not None:
            refusals.refuse_unsealed(request.compaction, request.model)
        if common is not request or kinds.count(ToolCall) > 1 or kinds.count(ToolResult) > 1:
            common.messages = with_unique_calls(common.messages)
        if ToolCall in kinds or ToolResult in kinds:
            common.messages = with_results(common.messages)
        if len(common.tools) > 1:
            common.tools = with_unique_tools(common.tools)
        return with_token_limit(common, self.target.most_tokens(model), losses)


class TranslatedExchange(Struct, frozen=True):
    """One translated request. `dropped` are the caller's fields that were not carried."""

    translation: Translation
    request: ChatRequest
    target_request: language.TargetRequest
    dropped: list[str]

    def answer(self, body: bytes, usage: events.UsageSource = events.no_usage) -> bytes:
        """Translate a complete answer, to a stream if the caller requested one. `usage` is what the
        caller is told. Raises BrokenAnswer or UpstreamError."""
        if refusals.has_more_objects(body, MAX_ANSWER_OBJECTS):
            raise _too_large(f"{MAX_ANSWER_OBJECTS} objects")
        if len(body) > MAX_ANSWER:
            raise _too_large(f"{MAX_ANSWER} bytes")
        source, read = self.translation.source, self.translation.target.read_answer
        try:
            text = refusals.check_text(body)
            if self.request.stream:  # in an event its parts are on one line
                return _output(self, usage).add(read(on_one_line(text)), len(body))
            changes = _changes(self)
            assembly = Assembly(usage=usage, any_arguments=source.text_arguments == "all")
            assembly.add(read(text) if changes is None else changes.undo(read(text)))
            return source.write_answer(assembly.answer(), self.request)
        except refusals.UNREADABLE as error:
            if (amended := Surrogates().amended(body)) != body:
                return self.answer(amended, usage)
            self.refuse(body)
            raise refusals.unreadable_answer(error) from error

    def for_answer(self) -> TranslatedExchange:
        """The exchange without messages and body, to free their memory while the answer lasts."""
        request = replace(self.request, messages=[], unread=[])
        target_request = replace(self.target_request, body=b"")
        return TranslatedExchange(self.translation, request, target_request, self.dropped)

    def stream(self, usage: events.UsageSource = events.no_usage) -> StreamTranslator:
        """A translator for the events of a streamed answer; `usage` is what the caller is told."""
        return StreamTranslator(self, usage)

    def error(self, status: int, document: Any) -> events.UpstreamError:
        """The error in an error response; `document` is its JSON, None for none."""
        return self.translation.target.read_error(status, document)

    def refuse(self, data: bytes) -> None:
        """Raise UpstreamError if what is no answer, or no event of one, reports an error."""
        target = self.translation.target
        refusals.AnswerErrors(target.dialect, target.read_error).refuse(data)


class StreamTranslator:
    """Translates the server-sent events of one stream; into an answer in one piece if the caller
    asked for that. After an error only `take` may be called."""

    def __init__(self, exchange: TranslatedExchange, usage: events.UsageSource) -> None:
        self._reader = exchange.translation.target.stream_reader()
        self._read = self._reader.read
        self._output = _output(exchange, usage)
        self._add = self._output.add
        self._refuse = exchange.refuse
        self._candidates = exchange.request.candidates or 1
        self._surrogates = Surrogates()

    @property
    def started(self) -> bool:
        """Whether the answer has begun: the usage that its beginning tells has been read."""
        return self._output.state.started

    @property
    def ended(self) -> bool:
        """Whether the answer is complete; later events change nothing."""
        return self._output.state.ended

    def event(self, data: bytes) -> bytes:
        """Complete events, or `b""` for none. Raises BrokenAnswer or UpstreamError; `take` returns
        the events before the error."""
        try:
            if not data.isascii():
                data.decode()  # as `check_text` does, without a call for each event
            return self._add(self._read(data), len(data))
        except refusals.UNREADABLE as error:
            if (amended := self._surrogates.amended(data)) != data:
                return self.take() + self.event(amended)
            self._refuse(data)
            raise refusals.unreadable_answer(error) from error

    def end(self) -> bytes:
        """The output at the end of the upstream's stream. Raises the same errors as `event`."""
        try:
            output = self._add(self._with_all_candidates(self._reader.end()), 0)
            return output + self._output.end()
        except refusals.UNREADABLE as error:
            raise refusals.unreadable_answer(error) from error

    def _with_all_candidates(self, sequence: Iterable[events.Event]) -> Iterator[events.Event]:
        """A stream without an end mark may have ended before all candidates began."""
        for event in sequence:
            if isinstance(event, events.End):
                answered = any(each.stop != "filter" for each in event.finishes.values())
                if answered and len(event.finishes) < self._candidates:
                    raise events.BrokenAnswer(
                        "the upstream's answer ended without all of its candidates"
                    )
            yield event

    def take(self) -> bytes:
        """The output before an error, which was not returned."""
        return self._output.take()


class _Changes:
    """Reverts changes of the request in the events of the answer: the names of tools, the answer
    tool, and calls behind the only one that is wanted."""

    def __init__(self, request: language.TargetRequest, *, first_call: bool) -> None:
        self._state = AnswerState(any_arguments=not request.answer_tool)
        self._names = request.tool_names
        self._restored = 0
        self._answer_tool = AnswerTool(request.answer_tool) if request.answer_tool else None
        self._first_call = FirstCall() if first_call else None

    def undo(self, sequence: Iterable[events.Event]) -> Iterator[events.Event]:
        """The events with the changes reverted. Raises BrokenAnswer if one is against the law."""
        sequence = self._state.checked(sequence)
        if self._first_call is not None:
            sequence = self._first_call.events(sequence)
        for event in sequence if self._answer_tool is None else self._answer_tool.events(sequence):
            if isinstance(event, events.Open) and isinstance(event.block, ToolCall):
                name = self._names.get(event.block.name, event.block.name)
                event.block.name, self._restored = name, self._restored + len(name)
                if self._restored > MAX_NAMES:
                    raise _too_large(f"{MAX_NAMES} characters of the names of tools")
            yield event


def _changes(exchange: TranslatedExchange) -> _Changes | None:
    request = exchange.target_request
    # Some servers make more calls than they were told.
    first_call = request.first_call or exchange.request.one_call
    if first_call or request.tool_names or request.answer_tool:
        return _Changes(request, first_call=first_call)
    return None


def _output(
    exchange: TranslatedExchange, usage: events.UsageSource
) -> _StreamOutput | _WholeOutput:
    caller, changes = exchange.translation.source, _changes(exchange)
    if not exchange.request.stream:
        return _WholeOutput(exchange, usage, changes)
    state = AnswerState(usage=usage, any_arguments=caller.text_arguments != "none")
    return _StreamOutput(caller.stream_writer(exchange.request), state, changes)


def _too_large(bound: str) -> events.BrokenAnswer:
    return events.BrokenAnswer(f"the upstream's answer has over {bound}")


class _StreamOutput:
    """The output of neutral events as a stream. `state` says how far they are."""

    def __init__(
        self, writer: language.StreamWriter, state: AnswerState, changes: _Changes | None
    ) -> None:
        self._write = writer.write
        self._changes = changes
        self.state = state
        self._before_error = b""

    def add(self, sequence: Iterable[events.Event], size: int) -> bytes:
        """The output for events read from `size` bytes; `take` returns that before an error."""
        state, write = self.state, self._write
        output: list[bytes] = []
        try:
            for event in sequence if self._changes is None else self._changes.undo(sequence):
                state.check(event)
                output.append(write(event))
        except Exception:
            self._before_error = b"".join(output)
            raise
        return b"".join(output)

    def take(self) -> bytes:
        output, self._before_error = self._before_error, b""
        return output

    def end(self) -> bytes:
        return b""


class _WholeOutput:
    """The same as an answer in one piece, which is the output at the end."""

    _size = 0

    def __init__(
        self, exchange: TranslatedExchange, usage: events.UsageSource, changes: _Changes | None
    ) -> None:
        self._exchange = exchange
        self._changes = changes
        any_arguments = exchange.translation.source.text_arguments == "all"
        self.state = Assembly(usage=usage, any_arguments=any_arguments)

    def add(self, sequence: Iterable[events.Event], size: int) -> bytes:
        self._size += size
        if self._size > MAX_ANSWER:
            raise _too_large(f"{MAX_ANSWER} bytes")
        self.state.add(sequence if self._changes is None else self._changes.undo(sequence))
        return b""

    def take(self) -> bytes:
        return b""

    def end(self) -> bytes:
        exchange = self._exchange
        return exchange.translation.source.write_answer(self.state.answer(), exchange.request)
