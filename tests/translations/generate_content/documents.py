"""The vendor's SDK as a judge of what is written, and answers of the vendor's to read."""

from __future__ import annotations

import json
from typing import Any

from google.genai import types

from engine.translations.generate_content.answer_reader import Reader
from engine.translations.neutral.answer import Answer, collect
from engine.translations.neutral.events import Event

Json = dict[str, Any]


def text(value: str, **more: Any) -> Json:
    """A part that is text."""
    return {"text": value, **more}


def call(name: str = "f", **members: Any) -> Json:
    """A part that calls a function."""
    return {"functionCall": {"name": name, **members}}


def piece(*parts: Json, finish: str = "", **more: Any) -> Json:
    """An answer with one candidate; a stream's event is one, too."""
    reason = {"finishReason": finish} if finish else {}
    return {"candidates": [{"content": {"parts": parts, "role": "model"}, **reason, **more}]}


def events_of(*documents: Any) -> list[Event]:
    """The neutral events of a stream."""
    reader = Reader()
    events: list[Event] = []
    for document in documents:
        data = document if isinstance(document, bytes) else json.dumps(document).encode()
        events += reader.read(data)
    return [*events, *reader.end()]


def read(*documents: Any) -> Answer:
    """The answer that the events of a stream come to."""
    return collect(events_of(*documents))


def blocks_of(*documents: Any) -> list[Any]:
    """The blocks of a stream's only candidate."""
    (candidate,) = read(*documents).candidates
    return candidate.blocks


def response(document: bytes | Json) -> types.GenerateContentResponse:
    """An answer as the SDK reads it."""
    value = json.loads(document) if isinstance(document, bytes) else document
    return types.GenerateContentResponse.model_validate(value)
