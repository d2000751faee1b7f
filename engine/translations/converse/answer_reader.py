"""Converse answers and the events of ConverseStream -> neutral events.

A stream is `messageStart` (some servers leave it out, or the indexes of blocks), then each block as
`contentBlockStart` (only where a delta does not say its kind), deltas and `contentBlockStop`, then
`messageStop`, and `metadata` with the usage. Events of kinds not known here say nothing.

A tool that the vendor runs, and its result, say nothing to callers of other languages: they are
passed over. Content of any other kind that is not known here is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

import msgspec
from msgspec import Raw

from engine.translations.converse import answer_fields as fields
from engine.translations.neutral import content as neutral
from engine.translations.neutral import events
from engine.translations.neutral.answer_json import is_blank, raw_at, texts_of
from engine.translations.neutral.calls import arguments_of, call_id
from engine.translations.neutral.json_members import NULL, WrongType
from engine.translations.neutral.open_parts import MessageReader, Part

_OMISSIBLE = ("toolResult", "cachePoint")
_BLOCK = msgspec.json.Decoder(dict[str, Raw] | None)


def refuse_unknown(block: Raw) -> None:
    """Raise BrokenAnswer for a block, or a piece of one, with content of a kind not known here."""
    for kind, raw in (_BLOCK.decode(block) or {}).items():
        if kind not in ("type", *_OMISSIBLE) and not is_blank(msgspec.json.decode(raw)):
            raise events.uncarried(kind)


class BlockReader(Part):
    """Reads one block. A text begins with its first content: an empty one is none."""

    _is_vendors = has_begun = False
    """Whether it is a call of a tool that the vendor runs, and whether anything has come of it."""

    _open: neutral.Block | None = None
    _signature: neutral.Signature | None = None
    _image: fields.Image | None = None

    def whole(self, block: fields.BlockShape) -> Iterator[events.Event]:
        yield from self.start(block)
        yield from self.end()

    def start(self, start: fields.BlockShape | None) -> Iterator[events.Event]:
        """The block begins with these contents; one whose deltas say its kind may lack this."""
        if self.has_begun:
            raise events.BrokenAnswer("the upstream's answer has a block out of order")
        self.has_begun = True
        if start is None:
            return
        self._image = start.image
        call = start.tool_use
        self._is_vendors = call is not None and call.type == "server_tool_use"
        if call is not None and not self._is_vendors:
            if not call.name:
                raise WrongType("toolUse.name", "a string that is not empty")
            own_id = call.tool_use_id or call_id(f"{call.name}:")
            self._open = neutral.ToolCall(id=own_id, name=call.name)
            yield events.Open(self._open)
            if arguments := arguments_of(call.input):
                yield events.Delta(arguments)
        yield from self._contents(start)

    def _contents(self, block: fields.BlockShape) -> Iterator[events.Event]:
        if block.text:
            yield from self.delta(fields.BlockShape(text=block.text))
        if (thoughts := block.reasoning_content) is not None:
            if (text := thoughts.reasoning_text) is not None:
                thoughts = fields.Reasoning(text=text.text, signature=text.signature)
            yield from self.delta(fields.BlockShape(reasoning_content=thoughts))
        if (cited := block.citations_content) is not None:
            yield from self.delta(fields.BlockShape(text="".join(texts_of(cited.content))))
            for citation in cited.citations or ():
                yield from self.delta(fields.BlockShape(citation=citation))

    def delta(self, delta: fields.BlockShape, data: bytes = b"{}") -> Iterator[events.Event]:
        """More of the block; `data` is the JSON text of its event."""
        self.has_begun = True
        if delta.text:
            yield from self._text(neutral.Text(), delta.text)
        elif delta.tool_use is not None:
            arguments = arguments_of(delta.tool_use.input)
            if arguments and not self._is_vendors:
                if not isinstance(self._open, neutral.ToolCall):
                    raise events.BrokenAnswer(
                        "the upstream's answer has arguments outside of a tool call"
                    )
                yield events.Delta(arguments)
        elif delta.reasoning_content is not None:
            yield from self._thoughts(delta.reasoning_content)
        elif delta.citation is not None:
            yield from self._cite(delta.citation)
        elif delta.image is None:
            refuse_unknown(raw_at(data, "contentBlockDelta", "delta"))
        elif self._image is not None:
            self._image.source = delta.image.source

    def end(self) -> Iterator[events.Event]:
        if self._signature is not None:
            yield events.Sign(self._signature)
        if (image := self._image) is not None and image.source is not None:
            source = neutral.Inline(f"image/{image.format or 'png'}", image.source.bytes or "")
            self._open = neutral.Media(kind="image", source=source)
            yield events.Open(self._open)
        if self._open is not None:
            yield events.Close()

    def _text(self, block: neutral.Text | neutral.Reasoning, text: str) -> Iterator[events.Event]:
        yield from self._open_as(block)
        if text:
            yield events.Delta(text)

    def _open_as(self, block: neutral.Text | neutral.Reasoning) -> Iterator[events.Event]:
        if self._open is None:
            self._open = block
            yield events.Open(block)
        elif type(self._open) is not type(block):
            raise events.BrokenAnswer("the upstream's answer has blocks of two kinds in one")

    def _thoughts(self, thoughts: fields.Reasoning) -> Iterator[events.Event]:
        signature = fields.read_signature(thoughts.signature, thoughts.redacted_content)
        if thoughts.text or signature is not None:
            yield from self._text(neutral.Reasoning(), thoughts.text or "")
        self._signature = signature or self._signature

    def _cite(self, shape: fields.CitationShape) -> Iterator[events.Event]:
        web = None if shape.location is None else shape.location.web
        if web is not None and web.url:
            yield from self._open_as(neutral.Text())
            cited = "".join(texts_of(shape.source_content))
            yield events.Cite(neutral.Citation(url=web.url, title=shape.title or "", cited=cited))


_NO_BLOCK = fields.BlockShape()


def read_answer(body: bytes) -> Iterator[events.Event]:
    answer = fields.ANSWER.read(body)
    message = None if answer.output is None else answer.output.message
    if message is None:
        fields.ERRORS.refuse(body)
        raise WrongType("output.message", "an object")
    yield events.Start()
    for index, block in enumerate(message.content or ()):
        if block == _NO_BLOCK:
            refuse_unknown(raw_at(body, "output", "message", "content", index))
        yield from BlockReader().whole(block)
    yield events.End(finishes={0: _read_ending(answer, has_content=bool(message.content))})


def _read_ending(ending: fields.Ending, *, has_content: bool) -> events.Finish:
    """The reason of the end; an answer that has content and its end may lack it."""
    if not (ending.stop_reason or has_content):
        raise WrongType("stopReason", "a string that is not empty")
    return fields.read_finish(
        ending.stop_reason or "end_turn", ending.additional_model_response_fields
    )


class Reader(MessageReader[BlockReader]):
    def __init__(self) -> None:
        super().__init__(BlockReader)

    def read(self, data: bytes) -> Iterable[events.Event]:
        if self._ended:
            return ()
        event = fields.STREAM_EVENT.read(data)
        if (more := event.content_block_delta) is not None:  # nearly every event
            blocks, index = self._blocks, more.content_block_index
            if index == blocks.index and blocks.current is not None:
                return blocks.current.delta(more.delta or _NO_BLOCK, data)
            block = self._block(index)
            rest = blocks.in_order(block, block.delta(more.delta or _NO_BLOCK, data))
            return self._behind_start(rest)
        if (start := event.content_block_start) is not None:
            return self._behind_start(self._begin(start, data))
        if (stop := event.content_block_stop) is not None:
            return self._behind_start(self._complete(self._block(stop.content_block_index)))
        if event.message_start != NULL:
            is_repeated, self._started = self._started, True
            return () if is_repeated else (events.Start(),)
        if event.message_stop is not None:
            has_content = self._blocks.count > 0
            self._finish = _read_ending(event.message_stop, has_content=has_content)
            return self._blocks.end()
        if event.metadata != NULL:
            return self.end() if self._finish is not None else ()
        fields.ERRORS.refuse(data)
        return ()

    def _begin(self, start: fields.BlockEvent, data: bytes) -> Iterator[events.Event]:
        """A block begins; where blocks have no indexes, it ends the one before it."""
        current = self._blocks.current
        if start.content_block_index is None and current is not None and current.has_begun:
            yield from self._complete(current)
        block = self._block(start.content_block_index)
        if start.start == _NO_BLOCK:
            refuse_unknown(raw_at(data, "contentBlockStart", "start"))
        yield from self._blocks.in_order(block, block.start(start.start))

    def _complete(self, block: BlockReader) -> Iterable[events.Event]:
        block.is_done = True
        return self._blocks.in_order(block, block.end())

    def _behind_start(self, rest: Iterable[events.Event]) -> Iterable[events.Event]:
        """The events of a block; some servers leave out `messageStart` before the first."""
        if self._started:
            return rest
        self._started = True
        return chain((events.Start(),), rest)
