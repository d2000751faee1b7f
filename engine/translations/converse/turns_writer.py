"""The turns of a conversation, in the order that the vendor accepts: users and models take turns, a
user begins, results of tools come first, and instructions stand above the conversation."""

from __future__ import annotations

from itertools import takewhile

from engine.translations.converse.content_writer import ContentWriter
from engine.translations.converse.fields import Json
from engine.translations.converse.models import Model
from engine.translations.neutral.content import Block, Text, ToolResult
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.members import WrongType
from engine.translations.neutral.request import ChatRequest, Message, merged


def write_turns(request: ChatRequest, writer: ContentWriter, model: Model, losses: Losses) -> Json:
    """The members `messages` and, unless empty, `system`."""
    system: list[Block] = list(request.system)
    turns: list[Message] = []
    for message in request.messages:
        if message.role == "system":
            system += message.blocks
        else:
            turns.append(message)
    turns = merged(turns)
    _check_end(request.messages, turns, losses)
    messages = _messages(turns, writer, model, losses, request.place_of("messages"))
    instructions = writer.system(_texts(system, losses))
    return (
        {"system": instructions, "messages": messages} if instructions else {"messages": messages}
    )


def _texts(blocks: list[Block], losses: Losses) -> list[Block]:
    for block in blocks:
        if not isinstance(block, Text):
            losses.add(block.place, "instructions are text only")
    return [block for block in blocks if isinstance(block, Text)]


def _check_end(messages: list[Message], turns: list[Message], losses: Losses) -> None:
    """Note instructions behind an assistant's turn, which would be continued without them."""
    if turns and turns[-1].role == "assistant" and messages[-1].role == "system":
        losses.add(messages[-1].place, "instructions cannot follow an assistant's turn")


def _messages(
    turns: list[Message], writer: ContentWriter, model: Model, losses: Losses, place: str
) -> list[Json]:
    """The turns that say anything. `place` is where the caller wrote them."""
    last = turns[-1] if turns else None
    if last is not None and last.role == "assistant" and not model.parameters.prefill:
        losses.add(last.place, "the model does not continue an assistant's turn")
        turns = turns[:-1]
    written: list[Message] = []
    messages: list[Json] = []
    for turn in turns:
        if turn.name:
            losses.add(f"{turn.place}.name", "speakers have no names", hint=True)
        blocks = sorted(turn.blocks, key=lambda block: not isinstance(block, ToolResult))
        content = writer.turn(blocks, turn.role)
        if turn is last and turn.role == "assistant" and content and "text" in content[-1]:
            content[-1] = {"text": content[-1]["text"].rstrip()}  # white space is refused
        if content:
            written.append(turn)
            messages.append({"role": turn.role, "content": content})
    early = list(takewhile(_is_assistants, written))
    for turn in early:
        losses.add(turn.place, "a conversation begins with the user's turn")
    if len(messages) == len(early):
        losses.remainder_error = WrongType(place, "a user's turn with content for this model")
    elif _is_assistants(written[-1]) and written[-1] is not last:
        expected = "a last turn with content for this model"
        losses.remainder_error = WrongType(turns[-1].place, expected)
    return messages[len(early) :]


def _is_assistants(message: Message) -> bool:
    return message.role == "assistant"
