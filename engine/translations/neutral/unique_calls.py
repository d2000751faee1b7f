"""Unique ids of the tool calls in a conversation, which vendors require."""

from __future__ import annotations

from collections import deque

from msgspec.structs import replace

from engine.translations.neutral.content import Block, ToolCall, ToolResult
from engine.translations.neutral.request import Message


def with_unique_calls(messages: list[Message]) -> list[Message]:
    """The messages with a new id for each call that has the id of an earlier one.

    A result belongs to the last turn with calls. If several calls of a turn have the same id, the
    first result belongs to the first of them.
    """
    ids = [each.id for message in messages for each in message.blocks if isinstance(each, ToolCall)]
    if len(set(ids)) == len(ids):
        return messages
    renaming = _Renaming(set(ids))
    result = []
    for message in messages:
        renaming.begin(message)
        result.append(replace(message, blocks=[renaming.block(each) for each in message.blocks]))
    return result


class _Renaming:
    """Gives the blocks of a conversation their new ids, in its order."""

    def __init__(self, ids: set[str]) -> None:
        self._all = ids
        """The callers' ids; a new id must not be one of them."""
        self._called: dict[str, int] = {}
        """How often each of the callers' ids has been given a number."""
        self._open: dict[str, deque[str]] = {}
        """The new ids of the calls of the last turn, by the callers' ids."""
        self._in_turn = False

    def begin(self, message: Message) -> None:
        """Begin the next message."""
        if message.role != "assistant":
            self._in_turn = False
        elif not self._in_turn:
            self._in_turn, self._open = True, {}

    def block(self, block: Block) -> Block:
        """The block with its new id."""
        if isinstance(block, ToolCall):
            new = self._new_id(block.id)
            self._open.setdefault(block.id, deque()).append(new)
            return block if new == block.id else replace(block, id=new)
        if isinstance(block, ToolResult) and (waiting := self._open.get(block.id)):
            new = waiting.popleft() if len(waiting) > 1 else waiting[0]
            return block if new == block.id else replace(block, id=new)
        return block

    def _new_id(self, call_id: str) -> str:
        number = self._called.get(call_id, 0) + 1
        new = call_id
        if number > 1:
            while (new := f"{call_id}_{number}") in self._all:
                number += 1
        self._called[call_id] = number
        return new
