"""The order of turns around tool calls."""

from __future__ import annotations

from engine.translations.neutral.content import Block, ToolCall, ToolResult
from engine.translations.neutral.request import Message


def results_first(messages: list[Message]) -> list[Message]:
    """The messages with the results of tools directly behind the turn that called them.

    What stands between a call and its results follows them, in its order.
    """
    if _are_first(messages):
        return messages
    result: list[Message] = []
    after_results: list[Message] = []
    open_calls: set[str] = set()
    for message in messages:
        if message.role == "assistant":
            result += after_results
            after_results = []
            open_calls = {each.id for each in message.blocks if isinstance(each, ToolCall)}
            result.append(message)
            continue
        results = [block for block in message.blocks if isinstance(block, ToolResult)]
        if results:
            result.append(_part(message, results))
            open_calls.difference_update(block.id for block in results)
            content = [block for block in message.blocks if not isinstance(block, ToolResult)]
            if content:
                after_results.append(_part(message, content))
        else:
            after_results.append(message)
        if not open_calls:
            result += after_results
            after_results = []
    return result + after_results


def _are_first(messages: list[Message]) -> bool:
    """Whether all results begin the message behind an assistant's turn."""
    is_behind = False
    for message in messages:
        if message.role == "assistant":
            is_behind = True
            continue
        for block in message.blocks:
            if not isinstance(block, ToolResult):
                is_behind = False
            elif not is_behind:
                return False
        is_behind = False
    return True


def _part(message: Message, blocks: list[ToolResult] | list[Block]) -> Message:
    return Message(
        role=message.role,
        blocks=[*blocks],
        name=message.name,
        place=message.place,
        extra=message.extra,
    )
