"""Streams of messages, put together from their events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from engine.translations.messages.answer_reader import Reader
from engine.translations.neutral.answer import Answer, collect
from engine.translations.neutral.answer_state import AnswerState
from engine.translations.neutral.events import Event

Json = dict[str, Any]

START: Json = {"type": "message_start", "message": {"id": "msg_1", "model": "m", "content": []}}
STOP: Json = {"type": "content_block_stop", "index": 0}
END: Json = {
    "type": "message_delta",
    "delta": {"stop_reason": "end_turn"},
    "usage": {"output_tokens": 3},
}
LAST: Json = {"type": "message_stop"}


def begin(block: Json, index: int = 0) -> Json:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int = 0, **members: Any) -> Json:
    return {"type": "content_block_delta", "index": index, "delta": members}


def text(value: str) -> Json:
    return delta(type="text_delta", text=value)


def arguments_of(value: str) -> Json:
    return delta(type="input_json_delta", partial_json=value)


TEXT = begin({"type": "text", "text": ""})
CALL = begin({"type": "tool_use", "id": "t1", "name": "f", "input": {}})


def events_of(*documents: Json) -> Iterator[Event]:
    reader, law = Reader(), AnswerState()
    for document in documents:
        for event in reader.read(json.dumps(document).encode()):
            law.check(event)
            yield event
    yield from reader.end()


def read(*documents: Json) -> Answer:
    return collect(events_of(*documents))


def blocks_of(*documents: Json) -> list[Any]:
    return read(START, *documents, END, LAST).candidates[0].blocks
