"""The turns of a conversation, in the order that the vendor accepts: users and models take turns, a
user begins, results of tools come first, and instructions stand above the conversation."""

from __future__ import annotations

from engine.translations.converse.content_writer import ContentWriter
from engine.translations.converse.fields import Json
from engine.translations.converse.models import Model
from engine.translations.neutral.content import Block
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import ChatRequest, Message, merged
from engine.translations.neutral.turns import (
    from_user_to_user,
    lose_last_instructions,
    results_before_others,
    texts_only,
)


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
    lose_last_instructions(request.messages, turns, losses)
    messages = from_user_to_user(
        turns,
        lambda turn, is_continued: _content(turn, writer, is_continued=is_continued),
        losses,
        prefill=model.parameters.prefill,
        place=request.place_of("messages"),
    )
    instructions = writer.system(texts_only(system, losses))
    return (
        {"system": instructions, "messages": messages} if instructions else {"messages": messages}
    )


def _content(turn: Message, writer: ContentWriter, *, is_continued: bool) -> list[Json]:
    content = writer.turn(results_before_others(turn), turn.role)
    if is_continued and content and "text" in content[-1]:
        content[-1] = {"text": content[-1]["text"].rstrip()}  # white space is refused
    return content
