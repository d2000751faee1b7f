"""The turns of a conversation, in the order that the vendor accepts.

It wants a user's turn first, results of tools before anything else in their turn, and instructions
above the conversation; newer models take some between the turns.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Any

from engine.translations.anthropic_models import Model
from engine.translations.messages.answer_fields import Json
from engine.translations.messages.content_writer import ContentWriter
from engine.translations.neutral.content import Block, Text, ToolResult
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.members import WrongType
from engine.translations.neutral.request import ChatRequest, Message, merged


def write_turns(
    request: ChatRequest,
    writer: ContentWriter,
    model: Model,
    losses: Losses,
    *,
    same_language: bool,
) -> Json:
    """The members `system` (unless empty) and `messages`."""
    if same_language:
        system: list[Block] = list(request.system)
        turns = [_verbatim(message, writer) for message in request.messages]
    else:
        hoisted, messages = _hoisted(merged(request.messages), model)
        system = _texts([*request.system, *hoisted], losses)
        place = request.place_of("messages")
        _check_end(request.messages, messages, losses)
        turns = _legal_turns(messages, writer, model, losses, place)
    members: Json = {}
    if instructions := writer.content(system):
        members["system"] = instructions
    members["messages"] = turns
    return members


def _verbatim(message: Message, writer: ContentWriter) -> Json:
    """A turn of this language as it came."""
    content = writer.content(message.blocks)
    if content or "output_config" not in message.extra:
        return {"role": message.role, "content": content, **message.extra}
    return {"role": message.role, **message.extra}


def _hoisted(messages: list[Message], model: Model) -> tuple[list[Block], list[Message]]:
    """The instructions that must stand above the conversation, and the turns.

    Between turns they may stand right after a user's turn, and before an assistant's or at the end.
    """
    system: list[Block] = []
    turns: list[Message] = []
    for index, message in enumerate(messages):
        if message.role != "system" or (
            model.system_turns
            and (turns and turns[-1].role == "user")
            and (index + 1 == len(messages) or messages[index + 1].role == "assistant")
        ):
            turns.append(message)
        else:
            system += message.blocks
    return system, merged(turns) if system else turns


def _check_end(messages: list[Message], turns: list[Message], losses: Losses) -> None:
    """Note instructions behind an assistant's turn, which would be continued without them."""
    if turns and turns[-1].role == "assistant" and messages[-1].role == "system":
        losses.add(messages[-1].place, "instructions cannot follow an assistant's turn")


def _texts(blocks: list[Block], losses: Losses) -> list[Block]:
    for block in blocks:
        if not isinstance(block, Text):
            losses.add(block.place, "instructions are text only")
    return [block for block in blocks if isinstance(block, Text)]


def _legal_turns(
    messages: list[Message], writer: ContentWriter, model: Model, losses: Losses, place: str
) -> list[Json]:
    """The turns in the legal order; those that say nothing are left out. `place` is where the
    caller wrote them."""
    last = messages[-1] if messages else None
    if last is not None and last.role == "assistant" and not model.prefill:
        losses.add(last.place, "the model does not continue an assistant's turn")
        messages = messages[:-1]
    sources: list[Message] = []
    turns: list[Json] = []
    for message in messages:
        if message.name:
            losses.add(f"{message.place}.name", "speakers have no names", hint=True)
        content = writer.content(_ordered(message, losses))
        if message is last and message.role == "assistant":
            content = _without_end_space(content)
        if content:
            sources.append(message)
            turns.append({"role": message.role, "content": content})
    early = list(takewhile(_is_assistants, sources))
    for message in early:
        losses.add(message.place, "a conversation begins with the user's turn")
    if len(turns) == len(early):
        losses.remainder_error = WrongType(place, "a user's turn with content for this model")
    elif _is_assistants(sources[-1]) and sources[-1] is not last:
        # The vendor refuses an empty turn, and would continue the assistant's before it.
        expected = "a last turn with content for this model"
        losses.remainder_error = WrongType(messages[-1].place, expected)
    return turns[len(early) :]


def _is_assistants(message: Message) -> bool:
    return message.role == "assistant"


def _ordered(message: Message, losses: Losses) -> list[Block]:
    if message.role == "system":
        return _texts(message.blocks, losses)
    if len(message.blocks) == 1:
        return message.blocks
    return sorted(message.blocks, key=lambda block: not isinstance(block, ToolResult))


def _without_end_space(content: Any) -> Any:
    """The content of a turn that is to be continued, which may not end with white space."""
    if isinstance(content, str):
        return content.rstrip()
    if content and isinstance(content[-1], dict) and content[-1].get("type") == "text":
        return [*content[:-1], {**content[-1], "text": content[-1]["text"].rstrip()}]
    return content
