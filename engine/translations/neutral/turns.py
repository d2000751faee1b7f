"""The order of turns that vendors require: around tool calls, at the beginning and at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Any

from engine.translations.neutral.content import Block, Text, ToolCall, ToolResult
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.members import WrongType
from engine.translations.neutral.request import ChatRequest, Message


def results_first(messages: list[Message]) -> list[Message]:
    """The messages with tool results directly after the turn that called the tools. Messages
    between a call and its results follow the results, in their order.
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
    """Whether all results are at the beginning of the message after an assistant's turn."""
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


def hoisted(request: ChatRequest) -> tuple[list[Block], list[Message]]:
    """The instructions, with those between the turns; and the turns, for vendors that want all
    instructions above the conversation."""
    system: list[Block] = list(request.system)
    turns: list[Message] = []
    for message in request.messages:
        if message.role == "system":
            system += message.blocks
        else:
            turns.append(message)
    return system, turns


def texts_only(blocks: Sequence[Block], losses: Losses) -> list[Block]:
    """The text blocks of instructions; other blocks are losses."""
    for block in blocks:
        if not isinstance(block, Text):
            losses.add(block.place, "instructions are text only")
    return [block for block in blocks if isinstance(block, Text)]


def lose_last_instructions(messages: list[Message], turns: list[Message], losses: Losses) -> None:
    """Add a loss for instructions after the last assistant's turn, which would be continued without
    them."""
    if turns and turns[-1].role == "assistant" and messages[-1].role == "system":
        losses.add(messages[-1].place, "instructions cannot follow an assistant's turn")


def from_user_to_user(
    turns: list[Message],
    write: Callable[[Message, bool], Any],
    losses: Losses,
    *,
    prefill: bool,
    place: str,
) -> list[dict[str, Any]]:
    """The turns for a vendor that requires a user's turn at the beginning and, unless the model
    accepts a `prefill`, at the end. `write` returns the content of a turn; its second argument says
    whether the model continues the turn. Turns without content are left out. `place` is the place
    of the turns in the request."""
    last = turns[-1] if turns else None
    if last is not None and last.role == "assistant" and not prefill:
        losses.add(last.place, "the model does not continue an assistant's turn")
        turns = turns[:-1]
    continued = last if last is not None and last.role == "assistant" else None
    sources: list[Message] = []
    written_turns: list[dict[str, Any]] = []
    for turn in turns:
        if turn.name:
            losses.add(f"{turn.place}.name", "speakers have no names", hint=True)
        if content := write(turn, turn is continued):
            sources.append(turn)
            written_turns.append({"role": turn.role, "content": content})
    if sources and sources[0].role == sources[-1].role == "user":  # nearly always
        return written_turns
    early = list(takewhile(_is_assistants, sources))
    for turn in early:
        losses.add(turn.place, "a conversation begins with the user's turn")
    if len(sources) == len(early):
        losses.remainder_error = WrongType(place, "a user's turn with content for this model")
    elif _is_assistants(sources[-1]) and sources[-1] is not last:
        # The vendor refuses an empty turn, and would continue the assistant's before it.
        expected = "a last turn with content for this model"
        losses.remainder_error = WrongType(turns[-1].place, expected)
    return written_turns[len(early) :]


def results_before_others(message: Message) -> list[Block]:
    """The blocks of a turn, tool results first."""
    if len(message.blocks) == 1:
        return message.blocks
    return sorted(message.blocks, key=lambda block: not isinstance(block, ToolResult))


def _is_assistants(message: Message) -> bool:
    return message.role == "assistant"
