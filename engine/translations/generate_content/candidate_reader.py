"""One candidate of an answer -> neutral events, in a stream and in one piece alike."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Raw

from engine.translations.generate_content.citation_reader import CitationReader
from engine.translations.generate_content.fields import NAME, THOUGHT, read_signature
from engine.translations.generate_content.finish import read_finish
from engine.translations.generate_content.logprobs import read_logprobs
from engine.translations.generate_content.media_reader import read_file, read_inline
from engine.translations.generate_content.partial_arguments import PartialArguments
from engine.translations.neutral.content import (
    Block,
    Foreign,
    Reasoning,
    Signature,
    Text,
    ToolCall,
)
from engine.translations.neutral.events import (
    BrokenAnswer,
    Close,
    Delta,
    Event,
    Finish,
    Open,
    Sign,
    Tokens,
)
from engine.translations.neutral.members import Members
from engine.translations.neutral.names import call_id

_CONTENTS = ("text", "inlineData", "fileData")
_PLAIN = frozenset(("index",))
_TEXT = frozenset(("text",))


class CandidateReader:
    """Reads the pieces of one candidate. Calls without ids get them from `answer`, a text that
    other answers do not have."""

    def __init__(self, index: int, answer: str) -> None:
        self._index = index
        self._answer = answer
        self._open: type[Block] | None = None
        self._partial: PartialArguments | None = None
        self._citations = CitationReader(index)
        self._signature: Signature | None = None
        self._calls = 0
        self._has_content = False
        self._reason = ""
        self._explanation = ""

    def read(self, candidate: Members) -> Iterator[Event]:
        """The events of one piece."""
        content = candidate.members("content")
        if content is not None:
            place = content.place_of("parts")
            for position, raw in enumerate(content.items("parts") or ()):
                yield from self._part(raw, content.child(raw, f"{place}[{position}]"))
        if candidate.has_only(_PLAIN):  # nearly every event
            return
        if self._open is Text:
            yield from self._citations.read(candidate)
        if tokens := read_logprobs(candidate):
            yield Tokens(tokens, self._index)
        reason = candidate.text("finishReason")
        if reason and reason != "FINISH_REASON_UNSPECIFIED" and not self._reason:
            self._reason = reason
            self._explanation = candidate.text("finishMessage") or ""

    def end(self) -> Iterator[Event]:
        """The last events."""
        yield from self._flush_signature()
        yield from self._close()

    def _close(self) -> Iterator[Event]:
        if self._open is not None:
            self._open = None
            yield Close(self._index)

    def finish(self) -> Finish:
        """Why the candidate ended. Raises BrokenAnswer if it has not, or went wrong."""
        if self._partial is not None:
            raise BrokenAnswer("the upstream's answer ended inside a tool call")
        return read_finish(
            self._reason, self._explanation, calls=self._calls > 0, content=self._has_content
        )

    def _part(self, raw: Raw, part: Members) -> Iterator[Event]:
        if part.has_only(_TEXT) and self._partial is None and self._signature is None:
            yield from self._content(raw, part)
            return
        text = part.text("thoughtSignature")
        call = part.members("functionCall")
        if self._partial is not None and call is None:
            raise BrokenAnswer("the upstream's answer goes on inside a tool call")
        yield from self._flush_signature()
        if part.boolean("thought"):
            yield from self._text(Reasoning, part.text("text") or "")
            if text is not None:
                yield from self._sign(Signature(NAME, THOUGHT + text))
            return
        is_known = call is not None or any(name in part for name in _CONTENTS)
        if text is not None and is_known:  # any other part is kept whole
            self._signature = read_signature(text)
            if part.peek("text") == b'""':
                return  # citations of the text before it may follow
            yield from self._flush_signature()
        if call is not None:
            yield from self._call(call)
        else:
            yield from self._content(raw, part)

    def _content(self, raw: Raw, part: Members) -> Iterator[Event]:
        if (text := part.text("text")) is not None:
            yield from self._text(Text, text)
            self._citations.offsets.add(text)
        elif (blob := part.members("inlineData")) is not None:
            yield from self._whole(read_inline(blob))
        elif (file := part.members("fileData")) is not None:
            yield from self._whole(read_file(file))
        else:
            kind = next(iter(part.unread_members()), "part")
            yield from self._whole(Foreign(language=NAME, kind=kind, raw=raw))

    def _text(self, kind: type[Text] | type[Reasoning], text: str) -> Iterator[Event]:
        if not text:
            return
        self._has_content = self._has_content or kind is Text
        if self._open is not kind:
            yield from self._begin(kind())
        yield Delta(text, self._index)

    def _flush_signature(self) -> Iterator[Event]:
        signature, self._signature = self._signature, None
        if signature is not None:
            yield from self._sign(signature)

    def _sign(self, signature: Signature) -> Iterator[Event]:
        """Sign the thoughts before the block that the signature came with."""
        if self._open is not Reasoning:
            yield from self._begin(Reasoning())
        yield Sign(signature, self._index)
        yield from self._close()

    def _call(self, call: Members) -> Iterator[Event]:
        """A call, whole or its next arguments."""
        continues = call.boolean("willContinue") or False
        if self._partial is None:
            yield from self._begin_call(call)
            partials = "partialArgs"
            if not continues and partials not in call:
                if arguments := call.json("args"):
                    yield Delta(arguments, self._index)
                yield from self._close()
                return
            self._partial = PartialArguments()
        for partial in call.objects("partialArgs"):
            self._partial.add(partial)
        if not continues:
            yield Delta(self._partial.json(), self._index)
            self._partial = None
            yield from self._close()

    def _begin_call(self, call: Members) -> Iterator[Event]:
        self._calls += 1
        self._has_content = True
        name = call.text("name") or ""
        if not name:
            raise BrokenAnswer("the upstream's answer has a tool call without a name")
        position = call_id(f"call_{self._answer}_{self._index}_{self._calls}", 40)
        yield from self._begin(ToolCall(id=call.text("id") or position, name=name))

    def _whole(self, block: Block) -> Iterator[Event]:
        self._has_content = True
        yield from self._begin(block)
        yield from self._close()

    def _begin(self, block: Block) -> Iterator[Event]:
        yield from self._close()
        self._open = type(block)
        self._citations.begin_block()
        yield Open(block, self._index)
