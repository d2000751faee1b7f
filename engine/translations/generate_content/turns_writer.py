"""The turns of a conversation, in the order that the vendor accepts."""

from __future__ import annotations

from typing import Any

from engine.translations.generate_content.content_writer import ContentWriter
from engine.translations.generate_content.models import Model
from engine.translations.neutral.content import Block
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.members import WrongType
from engine.translations.neutral.request import ChatRequest, Message, merged

Json = dict[str, Any]


def write_turns(
    request: ChatRequest,
    writer: ContentWriter,
    model: Model,
    losses: Losses,
    *,
    same_language: bool,
) -> Json:
    """The members `contents` and, unless empty, `systemInstruction`.

    Instructions between turns have no place of their own: they join those at the beginning.
    """
    system: list[Block] = list(request.system)
    turns: list[Message] = []
    for message in request.messages:
        if message.role == "system":
            system += message.blocks
        else:
            turns.append(message)
    if same_language:
        contents = [_content(turn, writer.parts(turn.blocks)) | turn.extra for turn in turns]
    else:
        _lose_names(turns, losses)
        turns = _without_prefill(merged(turns), model, losses)
        contents = [
            _content(turn, parts) for turn in turns if (parts := writer.ordered_parts(turn.blocks))
        ]
        losses.remainder_error = _remainder_error(turns, contents, request.place_of("messages"))
    members: Json = {"contents": contents}
    if instructions := writer.instructions(system):
        members["systemInstruction"] = {"parts": instructions}
    return members


def _content(turn: Message, parts: list[Json]) -> Json:
    return {"role": "model" if turn.role == "assistant" else "user", "parts": parts}


def _remainder_error(turns: list[Message], contents: list[Json], place: str) -> WrongType | None:
    """The error of a conversation that says nothing, or nothing in its last turn, of which the
    vendor refuses both; `place` is where the caller wrote it."""
    if not contents:
        return WrongType(place, "a turn with content for this model")
    if contents[-1]["role"] == "model" and turns[-1].role == "user":
        return WrongType(turns[-1].place, "a last turn with content for this model")
    return None


def _lose_names(messages: list[Message], losses: Losses) -> None:
    for message in messages:
        if message.name:
            losses.add(f"{message.place}.name", "speakers have no names", hint=True)


def _without_prefill(messages: list[Message], model: Model, losses: Losses) -> list[Message]:
    if not messages or messages[-1].role != "assistant" or model.prefill:
        return messages
    losses.add(messages[-1].place, "the model does not continue an assistant's turn")
    return messages[:-1]
