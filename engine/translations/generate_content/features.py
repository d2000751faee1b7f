"""The features of generate content."""

from __future__ import annotations

from typing import Any

from engine.translations.features import Feature, Features

_TOOLS = [{"functionDeclarations": [{"name": "look", "parameters": {"type": "OBJECT"}}]}]
_ANY = {"functionCallingConfig": {"mode": "ANY"}}
_VOICE = {"voiceConfig": {"prebuiltVoiceConfig": {"voiceName": "Kore"}}}


def _content(**part: Any) -> dict[str, Any]:
    return {"contents": [{"role": "user", "parts": [{"text": "Hi"}, part]}]}


def _inline(media_type: str, data: str = "AAAA") -> dict[str, Any]:
    return _content(inlineData={"mimeType": media_type, "data": data})


def _config(**members: Any) -> dict[str, Any]:
    return {"generationConfig": members}


FEATURES = Features(
    {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
    [
        Feature("sampling", "temperature", _config(temperature=0.5)),
        Feature("sampling", "topP", _config(topP=0.5)),
        Feature("sampling", "topK", _config(topK=5)),
        Feature("sampling", "seed", _config(seed=1)),
        Feature("sampling", "stopSequences", _config(stopSequences=["END"])),
        Feature("sampling", "candidateCount", _config(candidateCount=2)),
        Feature("sampling", "presencePenalty", _config(presencePenalty=1)),
        Feature("sampling", "frequencyPenalty", _config(frequencyPenalty=1)),
        Feature("answer", "maxOutputTokens", _config(maxOutputTokens=4096)),
        Feature("answer", "responseLogprobs", _config(responseLogprobs=True, logprobs=2)),
        Feature("answer", "responseMimeType", _config(responseMimeType="application/json")),
        Feature(
            "answer",
            "responseSchema",
            _config(responseMimeType="application/json", responseSchema={"type": "OBJECT"}),
        ),
        Feature("answer", "responseModalities", _config(responseModalities=["TEXT", "IMAGE"])),
        Feature(
            "answer", "speechConfig", _config(responseModalities=["AUDIO"], speechConfig=_VOICE)
        ),
        Feature("answer", "mediaResolution", _config(mediaResolution="MEDIA_RESOLUTION_LOW")),
        Feature("reasoning", "thinkingBudget", _config(thinkingConfig={"thinkingBudget": 1024})),
        Feature("reasoning", "includeThoughts", _config(thinkingConfig={"includeThoughts": True})),
        Feature("tools", "functionDeclarations", {"tools": _TOOLS}),
        Feature("tools", "toolConfig", {"tools": _TOOLS, "toolConfig": _ANY}),
        Feature("tools", "googleSearch", {"tools": [{"googleSearch": {}}]}),
        Feature("tools", "codeExecution", {"tools": [{"codeExecution": {}}]}),
        Feature("tools", "urlContext", {"tools": [{"urlContext": {}}]}),
        Feature("content", "images", _inline("image/png", "iVBORw0KGgo=")),
        Feature("content", "audio", _inline("audio/wav")),
        Feature("content", "video", _inline("video/mp4")),
        Feature("content", "documents", _inline("application/pdf", "JVBERi0=")),
        Feature(
            "content",
            "fileData",
            _content(fileData={"mimeType": "image/png", "fileUri": "https://example.com/a.png"}),
        ),
        Feature("state", "cachedContent", {"cachedContent": "cachedContents/1"}),
        Feature(
            "state",
            "safetySettings",
            {
                "safetySettings": [
                    {"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_LOW_AND_ABOVE"}
                ]
            },
        ),
    ],
)
