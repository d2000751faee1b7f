"""The turns of a conversation, in the order that the vendor accepts.

It wants a user's turn first, results of tools before anything else in their turn, and instructions
above the conversation; newer models take some between the turns.
"""

from __future__ import annotations

from typing import Any

from engine.translations.anthropic_models import Model
from engine.translations.messages.answer_fields import Json
from engine.translations.messages.content_writer import ContentWriter
from engine.translations.neutral.content import Block
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import ChatRequest, Message, merged
from engine.translations.neutral.turns import (
    from_user_to_user,
    lose_last_instructions,
    results_before_others,
    texts_only,
)


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
        system = texts_only([*request.system, *hoisted], losses)
        lose_last_instructions(request.messages, messages, losses)

        def content(turn: Message, is_continued: bool) -> Any:
            if turn.role == "system":
                return writer.content(texts_only(turn.blocks, losses))
            content_blocks = writer.content(results_before_others(turn))
            return _without_end_space(content_blocks) if is_continued else content_blocks

        place = request.place_of("messages")
        turns = from_user_to_user(messages, content, losses, prefill=model.prefill, place=place)
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


def _without_end_space(content: Any) -> Any:
    """The content of a turn that is to be continued, which may not end with white space."""
    if isinstance(content, str):
        return content.rstrip()
    if content and isinstance(content[-1], dict) and content[-1].get("type") == "text":
        return [*content[:-1], {**content[-1], "text": content[-1]["text"].rstrip()}]
    return content
