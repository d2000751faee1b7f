"""Each member that the SDK's request types have is carried, a hint, or refused by its name.

The tables fail when the SDK gets a member on which nobody has decided.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from google.genai import types
from pydantic import BaseModel

from engine.translations import language
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.refusals import LossRules
from engine.translations.translation import Translation
from engine.values.errors import GatewayError

Json = dict[str, Any]
GEMINI = language("generate_content")
LINK = {"fileUri": "https://x.test/a.png", "mimeType": "image/png"}
UPLOADED = {"fileUri": "gs://b/f", "mimeType": "application/pdf"}


class Kind(NamedTuple):
    """A type of the SDK: how a request with an object of it looks, and what its members become."""

    type: type[BaseModel]
    request: Callable[[Json], Json]
    carried: Json
    hints: Json = {}
    refused: Json = {}
    absent: tuple[str, ...] = ()
    """Members that the SDK does not send to this vendor, or not in this object."""


def part(value: Json) -> Json:
    """A request with a part; one that only says something of a part says it of a text."""
    names = {"functionCall", "thought", "thoughtSignature"}
    role = "model" if names & value.keys() else "user"
    about = {"thought", "thoughtSignature", "partMetadata", "mediaResolution"}
    text = {"text": "Hi"} if about & value.keys() else {}
    return {"contents": [{"parts": [text | value], "role": role}]}


def config(value: Json) -> Json:
    return part({"text": "Hi"}) | {"generationConfig": value}


def tools(*values: Json) -> Json:
    return part({"text": "Hi"}) | {"tools": list(values)}


def calls(value: Json) -> Json:
    call = {"functionCall": {"name": "f", **value}}
    result = {"functionResponse": {"name": "f", "response": {}}}
    return {"contents": [{"parts": [call], "role": "model"}, {"parts": [result]}]}


def result(value: Json) -> Json:
    call = {"functionCall": {"name": "f", "id": "1"}}
    response = {"functionResponse": {"name": "f", "id": "1", **value}}
    return {"contents": [{"parts": [call], "role": "model"}, {"parts": [response]}]}


INLINE = {"mimeType": "image/png", "data": "iVBORw0KGgo="}

KINDS = [
    Kind(
        types.GenerateContentConfig,
        lambda value: part({"text": "Hi"}) | value,
        carried={
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "tools": [{"functionDeclarations": [{"name": "f"}]}],
            "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
            "safetySettings": [
                {"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"},
                {"category": "HARM_CATEGORY_HATE_SPEECH", "threshold": "OFF"},
            ],
        },
        hints={"labels": {"a": "b"}, "serviceTier": "flex"},
        refused={
            "cachedContent": "cachedContents/1",
            "store": True,
            "continuationToken": "x",
            "modelArmorConfig": {"promptTemplateName": "x"},
            "generationOutputConfig": {"outputGcsUri": "gs://x"},
            "imageConfig": {"aspectRatio": "1:1"},
            "automaticContinuation": {},
        },
        absent=(
            *("httpOptions", "shouldReturnHttpResponse", "automaticFunctionCalling"),
            *types.GenerationConfig.model_json_schema()["properties"],
        ),
    ),
    Kind(
        types.GenerationConfig,
        config,
        carried={
            "candidateCount": 1,
            "stopSequences": ["x"],
            "maxOutputTokens": 9,
            "temperature": 0.5,
            "topP": 0.5,
            "responseModalities": ["TEXT"],
            "thinkingConfig": {"thinkingBudget": 2048},
            "responseMimeType": "text/plain",
            "responseSchema": {"type": "OBJECT"},
            "responseJsonSchema": {"type": "object"},
            "frequencyPenalty": 0.5,
            "presencePenalty": 0.5,
            "responseLogprobs": True,
            "logprobs": 3,
            "seed": 7,
        },
        hints={"mediaResolution": "MEDIA_RESOLUTION_LOW", "topK": 40},
        refused={
            "audioTimestamp": True,
            "audioTranscriptionConfig": {},
            "enableAffectiveDialog": True,
            "enableEnhancedCivicAnswers": True,
            "modelSelectionConfig": {"featureSelectionPreference": "BALANCED"},
            "responseFormat": [{}],
            "routingConfig": {"autoMode": {}},
            "speechConfig": {"languageCode": "de"},
            "translationConfig": {},
        },
    ),
    Kind(
        types.Content,
        lambda value: {"contents": [value]},
        {"parts": [{"text": "a"}], "role": "user"},
    ),
    Kind(
        types.Part,
        part,
        carried={
            "text": "Hi",
            "inlineData": INLINE,
            "functionCall": {"name": "f"},
            "functionResponse": {"name": "f", "response": {}},
            "thought": True,
            "thoughtSignature": "AA==",
        },
        hints={"partMetadata": {"a": 1}, "mediaResolution": {"level": "MEDIA_RESOLUTION_LOW"}},
        refused={
            "fileData": UPLOADED,
            "executableCode": {"code": "1", "language": "PYTHON"},
            "codeExecutionResult": {"outcome": "OUTCOME_OK"},
            "videoMetadata": {"fps": 1},
            "audioMetadata": {},
            "audioTranscription": {},
            "documentMetadata": {},
            "mediaProcessing": "x",
            "speechMetadata": {},
            "spreadsheetMetadata": {},
            "toolCall": {"id": "1"},
            "toolResponse": {"id": "1"},
        },
    ),
    Kind(
        types.Blob,
        lambda value: part({"inlineData": {**INLINE, **value}}),
        carried={**INLINE, "displayName": "a.png"},
    ),
    Kind(
        types.FileData,
        lambda value: part({"fileData": {**LINK, **value}}),
        carried={"fileUri": "https://x.test/b.png", "mimeType": "image/png", "displayName": "a"},
    ),
    Kind(
        types.FunctionCall,
        calls,
        carried={"id": "1", "name": "f", "args": {"a": 1}},
        refused={"partialArgs": [{"jsonPath": "$.a"}], "willContinue": True},
    ),
    Kind(
        types.FunctionResponse,
        result,
        carried={"id": "1", "name": "f", "response": {"a": 1}, "parts": [{"inlineData": INLINE}]},
        hints={"scheduling": "SILENT"},
        refused={"willContinue": True},
    ),
    Kind(
        types.FunctionResponsePart,
        lambda value: result({"parts": [value]}),
        carried={"inlineData": INLINE},
        hints={"mediaResolution": {"level": "MEDIA_RESOLUTION_LOW"}},
        refused={
            "fileData": UPLOADED,
            "audioMetadata": {},
            "documentMetadata": {},
            "mediaProcessing": "x",
            "spreadsheetMetadata": {},
            "videoMetadata": {},
        },
    ),
    Kind(
        types.FunctionDeclaration,
        lambda value: tools({"functionDeclarations": [{"name": "f", **value}]}),
        carried={
            "name": "f",
            "description": "Looks.",
            "parameters": {"type": "OBJECT"},
            "parametersJsonSchema": {"type": "object"},
        },
        hints={
            "behavior": "BLOCKING",
            "response": {"type": "STRING"},
            "responseJsonSchema": {"type": "string"},
        },
    ),
    Kind(
        types.Tool,
        lambda value: tools(value),
        carried={"functionDeclarations": [{"name": "f"}], "googleSearch": {}},
        refused={
            "codeExecution": {},
            "computerUse": {},
            "enterpriseWebSearch": {},
            "exaAiSearch": {},
            "fileSearch": {},
            "googleMaps": {},
            "googleSearchRetrieval": {},
            "mcpServers": [{}],
            "parallelAiSearch": {},
            "retrieval": {},
            "urlContext": {},
        },
    ),
    Kind(
        types.GoogleSearch,
        lambda value: tools({"googleSearch": value}),
        carried={},
        refused={
            "blockingConfidence": "BLOCK_LOW_AND_ABOVE",
            "excludeDomains": ["x.test"],
            "searchTypes": {"imageSearch": {}},
            "timeRangeFilter": {"startTime": "2026-01-01T00:00:00Z"},
        },
    ),
    Kind(
        types.ToolConfig,
        lambda value: tools({"functionDeclarations": [{"name": "f"}]}) | {"toolConfig": value},
        carried={"functionCallingConfig": {"mode": "ANY"}},
        refused={
            "includeServerSideToolInvocations": True,
            "retrievalConfig": {"languageCode": "de"},
        },
    ),
    Kind(
        types.FunctionCallingConfig,
        lambda value: (
            tools({"functionDeclarations": [{"name": "f"}]})
            | {"toolConfig": {"functionCallingConfig": value}}
        ),
        carried={"mode": "VALIDATED", "allowedFunctionNames": ["f"]},
        refused={"streamFunctionCallArguments": True},
    ),
    Kind(
        types.ThinkingConfig,
        lambda value: config({"thinkingConfig": value}),
        carried={"includeThoughts": True, "thinkingBudget": 2048, "thinkingLevel": "LOW"},
    ),
]


def ask(document: Json) -> list[str]:
    """The fields of a request to a model of chat completions that were dropped as hints."""
    translation = Translation(GEMINI, language("chat_completions"))
    line = RequestLine(model="m")
    return translation.request(json.dumps(document).encode(), line, "grok-4", LossRules()).dropped


def aliases(kind: type[BaseModel]) -> set[str]:
    return {field.alias or name for name, field in kind.model_fields.items()}


EVERY_KIND = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.type.__name__)


@EVERY_KIND
def test_every_member_of_the_sdk_has_a_decision(kind: Kind) -> None:
    decided = [*kind.carried, *kind.hints, *kind.refused]
    assert len(decided) == len(set(decided))
    assert aliases(kind.type) - set(kind.absent) == set(decided)


@EVERY_KIND
def test_a_member_that_is_carried_is_no_loss(kind: Kind) -> None:
    for name, value in kind.carried.items():
        assert name not in {field.rpartition(".")[2] for field in ask(kind.request({name: value}))}


@EVERY_KIND
def test_a_hint_is_dropped_and_named(kind: Kind) -> None:
    for name, value in kind.hints.items():
        fields = ask(kind.request({name: value}))
        assert any(name in field.split(".") for field in fields), name


@EVERY_KIND
def test_what_cannot_be_carried_is_refused_by_its_name(kind: Kind) -> None:
    for name, value in kind.refused.items():
        with pytest.raises(GatewayError) as excinfo:
            pytest.fail(f"{name}: {ask(kind.request({name: value}))}")
        assert excinfo.value.status == 400
        assert excinfo.value.code == "unsupported_parameter", name
