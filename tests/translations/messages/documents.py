"""The vendor's document and its SDK, as judges of what is written."""

from __future__ import annotations

from typing import Any

from anthropic import NOT_GIVEN, MessageStream
from anthropic.types import RawMessageStreamEvent
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

from engine.translations.neutral.answer import Answer
from engine.translations.neutral.content import Block, Reasoning, Refusal, Text, ToolCall
from engine.translations.neutral.events import (
    Cite,
    Close,
    Delta,
    End,
    Event,
    Open,
    Sign,
    Start,
)
from tests.support import yaml_text
from tests.support.paths import ROOT

_DOCUMENT = yaml_text.load((ROOT / "openapi" / "anthropic.yaml").read_bytes())
_EVENT: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)


def validator(name: str) -> Draft202012Validator:
    """The validator of a schema of the vendor's document."""
    return Draft202012Validator({**_DOCUMENT, "$ref": f"#/components/schemas/{name}"})


def message_of(data: list[bytes]) -> dict[str, Any]:
    """The message that the SDK puts together from the data of events; it checks each event."""
    events: Any = map(_EVENT.validate_json, data)
    return MessageStream(events, NOT_GIVEN).get_final_message().to_dict()


def events_of(answer: Answer, pieces: int) -> list[Event]:
    """The events of an answer, its texts in pieces of so many characters."""
    (candidate,) = answer.candidates
    events: list[Event] = [Start(id=answer.id, model=answer.model)]
    for block in candidate.blocks:
        text = _text_of(block)
        events.append(Open(_empty(block)))
        events += [Delta(text[at : at + pieces]) for at in range(0, len(text), pieces)]
        if isinstance(block, Text):
            events += map(Cite, block.citations)
        if isinstance(block, Reasoning) and block.signature is not None:
            events.append(Sign(block.signature))
        events.append(Close())
    return [*events, End(finishes={0: candidate.finish}, usage=answer.usage)]


def _text_of(block: Block) -> str:
    if isinstance(block, ToolCall):
        return block.arguments
    return block.text if isinstance(block, Text | Refusal | Reasoning) else ""


def _empty(block: Block) -> Block:
    if isinstance(block, ToolCall):
        return ToolCall(id=block.id, name=block.name)
    return type(block)() if isinstance(block, Text | Refusal | Reasoning) else block
