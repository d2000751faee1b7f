"""A language of embeddings: what each module of `languages/` defines as `LANGUAGE`, with the
features that its callers can ask for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from engine.translations.embeddings.neutral import EmbeddingRequest, Embeddings
from engine.translations.language import BaseLanguage, Feature, Features, RequestLine, TargetRequest
from engine.translations.neutral.losses import Losses

_PIXEL = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}


def _content(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"parts": [*parts]}}


_FOX, _DOG = {"text": "fox"}, {"text": "dog"}
_INPUT = _content(_FOX)
_GEMINI = (
    ("options", "taskType", {"taskType": "CLUSTERING"}),
    ("options", "title", {"title": "Animals"}),
    ("options", "outputDimensionality", {"outputDimensionality": 256}),
    ("input", "contents of several parts", _content(_FOX, _DOG)),
    ("input", "images", _content(_PIXEL)),
)

OPENAI = Features(
    {"input": "fox"},
    [
        Feature("input", "several texts", {"input": ["fox", "dog"]}),
        Feature("input", "token numbers", {"input": [1, 2]}),
        Feature("options", "dimensions", {"dimensions": 256}),
        Feature("options", "encoding_format", {"encoding_format": "base64"}),
        Feature("options", "user", {"user": "u1"}),
    ],
)
SINGLE = Features(_INPUT, [Feature(*feature) for feature in _GEMINI])
BATCH = Features(
    {"requests": [_INPUT]},
    [
        Feature("input", "several texts", {"requests": [_INPUT, _content(_DOG)]}),
        *(
            Feature(group, name, {"requests": [{**_INPUT, **members}]})
            for group, name, members in _GEMINI
        ),
    ],
)


@dataclass(frozen=True, kw_only=True, eq=False)
class EmbeddingLanguage(BaseLanguage):
    """One language of embeddings.

    `read_request` raises WrongType. `write_request` writes a request for a target that calls the
    model so; what it cannot say it adds to the losses. `read_answer` raises WrongType, BrokenAnswer
    or UpstreamError; `write_answer` gets the caller's request beside the answer.
    """

    read_request: Callable[[bytes, RequestLine], EmbeddingRequest]
    write_request: Callable[[EmbeddingRequest, str, Losses], TargetRequest]
    read_answer: Callable[[bytes], Embeddings]
    write_answer: Callable[[Embeddings, EmbeddingRequest], bytes]
