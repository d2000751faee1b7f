"""Converse answers and the events of ConverseStream -> neutral events.

A stream is `messageStart`, then each block as `contentBlockStart` (only where a delta does not say
its kind), deltas and `contentBlockStop`, then `messageStop`, and `metadata` with the usage. Events
of kinds not known here say nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.translations.converse.answer_fields import ERRORS, read_finish
from engine.translations.converse.answer_shapes import ANSWER, STREAM_EVENT, Block, Ending
from engine.translations.converse.block_reader import BlockReader, refuse_unknown
from engine.translations.neutral.events import End, Event, Finish, Start
from engine.translations.neutral.members import NULL, WrongType
from engine.translations.neutral.open_parts import MessageReader
from engine.translations.neutral.shapes import raw_at

_NO_BLOCK = Block()


def read_answer(body: bytes) -> Iterator[Event]:
    """The events of an answer in one piece. Raises WrongType or BrokenAnswer."""
    answer = ANSWER.read(body)
    message = None if answer.output is None else answer.output.message
    if message is None:
        ERRORS.refuse(body)
        raise WrongType("output.message", "an object")
    yield Start()
    for index, block in enumerate(message.content or ()):
        if block == _NO_BLOCK:
            refuse_unknown(raw_at(body, "output", "message", "content", index))
        yield from BlockReader().whole(block)
    yield End(finishes={0: _read_ending(answer)})


def _read_ending(ending: Ending) -> Finish:
    """The reason of the end."""
    if not ending.stop_reason:
        raise WrongType("stopReason", "a string that is not empty")
    return read_finish(ending.stop_reason, ending.additional_model_response_fields)


class Reader(MessageReader[BlockReader]):
    """Reads the events of one stream."""

    def __init__(self) -> None:
        super().__init__(BlockReader)

    def read(self, data: bytes) -> Iterable[Event]:
        """The events of one event of the stream."""
        if self._ended:
            return ()
        event = STREAM_EVENT.read(data)
        if (more := event.content_block_delta) is not None:  # nearly every event
            blocks, index = self._blocks, more.content_block_index
            if index == blocks.index and blocks.current is not None:
                return blocks.current.delta(more.delta or _NO_BLOCK, data)
            block = self._block(index)
            return blocks.in_order(block, block.delta(more.delta or _NO_BLOCK, data))
        if (start := event.content_block_start) is not None:
            block = self._block(start.content_block_index)
            if start.start == _NO_BLOCK:
                refuse_unknown(raw_at(data, "contentBlockStart", "start"))
            return self._blocks.in_order(block, block.start(start.start))
        if (stop := event.content_block_stop) is not None:
            block = self._block(stop.content_block_index)
            block.is_done = True
            return self._blocks.in_order(block, block.end())
        if event.message_start != NULL:
            is_repeated, self._started = self._started, True
            return () if is_repeated else (Start(),)
        if event.message_stop is not None:
            self._finish = _read_ending(event.message_stop)
            return self._blocks.end()
        if event.metadata != NULL:
            return self.end() if self._finish is not None else ()
        ERRORS.refuse(data)
        return ()

    def _block(self, index: int | None) -> BlockReader:
        block = super()._block(index)
        if index is None:
            raise WrongType("contentBlockIndex", "a whole number")
        return block
