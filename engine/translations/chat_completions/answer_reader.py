"""Chat completions answers -> neutral events, in a stream and in one piece."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import msgspec

from engine.translations.chat_completions import answer_fields as fields
from engine.translations.chat_completions.choice_reader import ChoiceReader
from engine.translations.neutral import events
from engine.translations.neutral.answer_json import is_blank, is_end_marker
from engine.translations.neutral.calls import name_of_answer
from engine.translations.neutral.json_members import NOT_OF_TYPE, WrongType
from engine.translations.vendors.openai_content import ERRORS, read_logprobs

_decode_chunk = fields.CHUNK.decode
_NO_USAGE = (b"", b"null", b"{}")


def read_answer(body: bytes) -> Iterable[events.Event]:
    """The events of an answer, which is complete even if it has no finish reason."""
    reader, completion = Reader(), fields.COMPLETION.read(body)
    output = reader.read_chunk(completion, body)
    if not completion.choices:
        ERRORS.refuse_whole(body)
    if any(map(_lacks_message, completion.choices or ())):
        raise events.BrokenAnswer("the upstream's answer has a choice without a message")
    return chain(output, reader.finish(events.Finish(stop="end")))


class Reader:
    """Reads the chunks of a stream.

    A stream is complete when each choice has a finish reason: the end marker may be missing, but
    proves nothing, since some servers write it after a failure. Chunks after it are passed over.
    Some servers give no reason: they are complete with the end marker behind a chunk with usage, a
    whole call or an empty reason, or without content behind the end of another choice. A choice
    with content breaks off if only others say why they ended.
    """

    _started = _ended = False
    _id = ""
    _last: fields.Chunk | fields.Completion | None = None
    _sources: fields.Sources | None = None  # the last chunk that names any (Perplexity)

    def __init__(self) -> None:
        self._choices: dict[int, ChoiceReader] = {}

    def read(self, data: bytes) -> Iterable[events.Event]:
        if self._ended:
            return ()
        try:
            chunk = _decode_chunk(data)
        except NOT_OF_TYPE:
            if is_end_marker(data):
                return self.finish(events.Finish(stop="end") if self._seems_complete() else None)
            chunk = fields.CHUNK.read(data)
        return self.read_chunk(chunk, data)

    def end(self) -> Iterable[events.Event]:
        return () if self._ended else self.finish(None)

    def finish(self, missing: events.Finish | None) -> Iterator[events.Event]:
        """The last events. `missing`: why a choice ended that does not say so, None if it must."""
        finishes: dict[int, events.Finish] = {}
        for index, choice in self._choices.items():
            if choice.finish is None and not (choice.has_begun and self._has_end(missing)):
                choice.finish = missing
            if choice.finish is None:
                raise events.BrokenAnswer("the upstream's answer ended without a finish reason")
            sources = self._sources if choice.needs_sources else None
            yield from choice.close(() if sources is None else fields.read_sources(sources))
            finishes[index] = choice.finish
        if not finishes:
            raise events.BrokenAnswer("the upstream's answer has no choices")
        self._ended = True
        yield events.End(finishes=finishes)

    def _seems_complete(self) -> bool:
        """Whether all choices called, or the last chunk has usage, or no content behind an end."""
        if self._choices and all(each.has_called for each in self._choices.values()):
            return True
        if self._last is None or bytes(self._last.usage) not in _NO_USAGE:
            return self._last is not None
        choices = self._last.choices or ()
        deltas = (each.delta for each in choices if each.delta is not None)
        if any(delta.content or delta.tool_calls for delta in deltas):
            return False
        return self._has_end() or all(each.finish_reason == "" for each in choices)  # LiteLLM

    def _has_end(self, missing: events.Finish | None = None) -> bool:
        """Whether a choice says why it ended, by another reason than the `missing` one."""
        return any(each.finish not in (None, missing) for each in self._choices.values())

    def read_chunk(
        self, chunk: fields.Chunk | fields.Completion, data: bytes
    ) -> Iterable[events.Event]:
        """The events of a chunk, or of an answer in one piece; `data` is its JSON text."""
        if chunk.error and not is_blank(chunk.error):
            raise ERRORS.inside(msgspec.json.decode(data))
        choices, self._last = chunk.choices, chunk
        if (chunk.search_results or chunk.citations) and fields.names_sources(chunk):
            self._sources = chunk
        if not choices:  # Azure judges the prompt in a first chunk without any
            ERRORS.refuse(data)
            return ()
        if not self._started:
            return chain((self._start(data),), self._read_choices(choices))
        if len(choices) == 1:  # nearly every chunk
            return self._read_choice(0, choices[0])
        return self._read_choices(choices)

    def _read_choices(self, choices: Sequence[fields.Choice]) -> Iterator[events.Event]:
        for position, choice in enumerate(choices):
            yield from self._read_choice(position, choice)

    def _start(self, data: bytes) -> events.Start:
        self._started = True
        head = fields.HEAD.read(data)
        self._id = name_of_answer(head.id, data)
        return events.Start(id=head.id or "", model=head.model or "", created=head.created or 0)

    def _read_choice(self, position: int, choice: fields.Choice) -> Iterable[events.Event]:
        output: list[events.Event] = []
        index = choice.index or 0
        if (reader := self._choices.get(index)) is None:
            events.check_candidate(index, f"choices[{position}].index")
            reader = self._choices[index] = ChoiceReader(index, self._id)
            reader.is_whole = isinstance(choice, fields.WholeChoice)
        if choice.error:  # OpenRouter
            raise ERRORS.inside({"error": choice.error})
        try:
            if choice.delta is not None:
                reader.delta(choice.delta, output)
            if not output and (choice.message or choice.text):
                _read_other_form(reader, choice, output)
            if choice.logprobs is not None:
                logprobs = choice.logprobs
                tokens = read_logprobs([*(logprobs.content or ()), *(logprobs.refusal or ())])
                output += [events.Tokens(tokens, index)] if tokens else []
            if reason := choice.finish_reason or choice.other_reason:
                reader.stop(reason, choice.stop_reason)
        except (events.BrokenAnswer, WrongType) as error:
            return events.interrupted(output, error)
        return output


def _lacks_message(choice: fields.Choice) -> bool:
    """Whether a choice of an answer in one piece says nothing, and not why (Azure's filter)."""
    if choice.delta is not None or choice.error:
        return False
    if not {bytes(choice.message), bytes(choice.text)} <= {b"", b"null"}:
        return False
    return fields.why_stopped(choice.finish_reason or "") not in ("length", "filter")


def _read_other_form(
    reader: ChoiceReader, choice: fields.Choice, output: list[events.Event]
) -> None:
    """The content of a choice in a member that others do not have there: a message in a chunk, or a
    delta in an answer in one piece. One that comes after other content repeats it."""
    message, text = bytes(choice.message), bytes(choice.text)
    if message.startswith(b"{") and not reader.has_begun:
        reader.is_whole = True
        reader.delta(fields.MESSAGE.read(message, "message"), output)
        reader.is_whole = False
    elif text.startswith(b'"') and choice.delta is None:
        reader.delta(fields.Message(content=fields.TEXT.read(text)), output)
