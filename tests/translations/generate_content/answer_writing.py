"""Answers as they are written, in a stream and in one piece, read by the SDK."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

from google.genai import types

from engine.translations.generate_content.answer_writer import Writer, write_answer
from engine.translations.generate_content.part_fields import write_signature
from engine.translations.neutral.answer import collect
from engine.translations.neutral.content import (
    NO_SIGNATURE,
    Block,
    Signature,
)
from engine.translations.neutral.events import (
    Close,
    Delta,
    End,
    Event,
    Finish,
    Open,
    Sign,
    Start,
)
from engine.translations.neutral.request import ChatRequest, Thinking
from tests.support.translations import event_data
from tests.translations.generate_content.documents import response

Json = dict[str, Any]


OWN = Signature("generate_content", "UzE=")


FOREIGN = Signature("messages", "sig")


END = End(finishes={0: Finish(stop="end")})


def request(*, visible: bool | None = True, as_list: bool = False) -> ChatRequest:
    thinking = Thinking(visible=visible)
    return ChatRequest(
        language="generate_content",
        model="m",
        messages=[],
        thinking=thinking,
        as_list=as_list,
        id="q",
    )


def output_of(events: list[Event], chat_request: ChatRequest | None = None) -> bytes:
    writer = Writer(chat_request or request())
    return b"".join(writer.write(event) for event in [Start(id="r"), *deepcopy(events)])


def json_of(events: list[Event], chat_request: ChatRequest | None = None) -> Json:
    """The answer in one piece that the same events come to, one that the SDK reads."""
    document = write_answer(collect([Start(id="r"), *deepcopy(events)]), chat_request or request())
    response(document)
    return json.loads(document)  # type: ignore[no-any-return]


def pieces(events: list[Event], chat_request: ChatRequest | None = None) -> list[Json]:
    """The answers of a stream, each one that the SDK reads."""
    documents = [json.loads(data) for data in event_data(output_of(events, chat_request))]
    for document in documents:
        types.GenerateContentResponse.model_validate(document)
    return documents


def parts_of(events: list[Event], chat_request: ChatRequest | None = None) -> list[Json]:
    return [
        part
        for document in pieces([*events, END], chat_request)
        for candidate in document["candidates"]
        for part in candidate["content"]["parts"]
        if part != {"text": ""}
    ]


def whole_parts(events: list[Event], chat_request: ChatRequest | None = None) -> list[Json]:
    document = json_of([*events, END], chat_request)
    return document["candidates"][0]["content"]["parts"]  # type: ignore[no-any-return]


def block(opened: Block, *deltas: str, sign: Signature | None = None) -> list[Event]:
    signs: list[Event] = [] if sign is None else [Sign(sign)]
    return [Open(opened), *map(Delta, deltas), *signs, Close()]


CALL = {"functionCall": {"id": "c", "name": "f", "args": {"a": 1.0}}}
MARK = write_signature(NO_SIGNATURE)
MARKED_CALL = {**CALL, "thoughtSignature": MARK}


SEALED = write_signature(FOREIGN)


def grounding_of(events: list[Event]) -> Json:
    """The sources of a stream, which are those of the answer in one piece."""
    *_, last = pieces([*events, END])
    metadata = last["candidates"][0].get("groundingMetadata", {})
    candidate = json_of([*events, END])["candidates"][0]
    assert candidate.get("groundingMetadata", {}) == metadata
    return metadata  # type: ignore[no-any-return]


A = {"web": {"uri": "https://a.test", "title": "A"}}


B = {"web": {"uri": "https://b.test", "title": "B"}}
