"""The features of the languages of embeddings."""

from __future__ import annotations

from typing import Any

from engine.translations.features import Feature, Features

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
