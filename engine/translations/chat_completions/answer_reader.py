"""Chat completions answers -> neutral events, in a stream and in one piece."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2s

import msgspec

from engine.translations.chat_completions.answer_fields import USAGE
from engine.translations.chat_completions.choice_reader import ChoiceReader
from engine.translations.neutral.events import (
    BrokenAnswer,
    End,
    Event,
    Finish,
    Start,
    Tokens,
    Usage,
)
from engine.translations.neutral.members import Members
from engine.translations.openai_answer_fields import error_inside, read_logprobs, read_usage

_MOST_CANDIDATES = 128
_NO_CHOICES = (b"", b"[]", b"null")


def read_answer(body: bytes) -> Iterator[Event]:
    """The events of an answer in one piece, which is complete even if it has no finish reason.
    Raises WrongType, BrokenAnswer or UpstreamError."""
    reader = Reader()
    yield from reader.read_chunk(body, "message")
    yield from reader.finish(Finish(stop="end"))


class Reader:
    """Reads the chunks of a stream.

    A stream is complete when each choice has a finish reason: the end marker may be missing, but
    proves nothing, since some servers write it after a failure. Chunks after it are passed over.
    """

    def __init__(self) -> None:
        self._started = self._ended = False
        self._id = ""
        self._choices: dict[int, ChoiceReader] = {}
        self._usage: Usage | None = None

    def read(self, data: bytes) -> Iterator[Event]:
        """The events of one chunk."""
        if self._ended:
            return
        if data.strip() == b"[DONE]":
            yield from self.end()
        else:
            yield from self.read_chunk(data, "delta")

    def end(self) -> Iterator[Event]:
        """The last events. Raises BrokenAnswer for a stream that is not complete."""
        if not self._ended:
            yield from self.finish(None)

    def finish(self, missing: Finish | None) -> Iterator[Event]:
        """The last events. `missing`: why a choice ended that does not say so, None if it must."""
        finishes: dict[int, Finish] = {}
        for index, choice in self._choices.items():
            choice.finish = choice.finish or missing
            if choice.finish is None:
                raise BrokenAnswer("the upstream's answer ended without a finish reason")
            yield from choice.close()
            finishes[index] = choice.finish
        if not finishes:
            raise BrokenAnswer("the upstream's answer has no choices")
        self._ended = True
        yield End(finishes=finishes, usage=self._usage)

    def read_chunk(self, data: bytes, member: str) -> Iterator[Event]:
        """The events of a chunk, or of an answer whose choices have a `message`."""
        chunk = Members(data)
        if "error" in chunk:
            raise error_inside(msgspec.json.decode(data))
        self._usage = read_usage(chunk.members("usage"), USAGE) or self._usage
        if not self._started:
            if chunk.peek("choices") in _NO_CHOICES:  # Azure judges the prompt in a first chunk
                return
            self._started = True
            answer_id = chunk.text("id") or ""
            # Calls without ids need some that no other turn has; the beginning has its time.
            self._id = answer_id or blake2s(data, digest_size=8).hexdigest()
            yield Start(
                id=answer_id,
                model=chunk.text("model") or "",
                created=chunk.integer("created") or 0,
            )
        for choice in chunk.objects("choices"):
            yield from self._read_choice(choice, member)

    def _read_choice(self, choice: Members, member: str) -> Iterator[Event]:
        index = choice.integer("index") or 0
        if index not in range(_MOST_CANDIDATES):
            raise choice.wrong("index", f"a number from 0 to {_MOST_CANDIDATES - 1}")
        if "error" in choice:  # OpenRouter
            raise error_inside({"error": msgspec.json.decode(choice.peek("error"))})
        reader = self._choices.get(index)
        if reader is None:
            reader = self._choices[index] = ChoiceReader(index, self._id)
        if (delta := choice.members(member)) is not None:
            yield from reader.delta(delta)
        if (logprobs := choice.members("logprobs")) is not None:
            tokens = [*read_logprobs(logprobs, "content"), *read_logprobs(logprobs, "refusal")]
            if tokens:
                yield Tokens(tokens, index)
        if reason := choice.text("finish_reason"):
            reader.stop(reason)
