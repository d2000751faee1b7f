"""The features of generate content."""

from __future__ import annotations

from typing import Any

from engine.translations.language import Feature, Features, each_alone

_TOOLS = [{"functionDeclarations": [{"name": "look", "parameters": {"type": "OBJECT"}}]}]
_ANY = {"functionCallingConfig": {"mode": "ANY"}}
_VOICE = {"voiceConfig": {"prebuiltVoiceConfig": {"voiceName": "Kore"}}}
_LINK = {"mimeType": "image/png", "fileUri": "https://example.com/a.png"}
_FILTER = {"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_LOW_AND_ABOVE"}


def _content(name: str, **part: Any) -> Feature:
    contents = [{"role": "user", "parts": [{"text": "Hi"}, part]}]
    return Feature("content", name, {"contents": contents})


def _inline(name: str, media_type: str, data: str = "AAAA") -> Feature:
    return _content(name, inlineData={"mimeType": media_type, "data": data})


def _config(group: str, **members: Any) -> Feature:
    """A feature that is called like the last of these members of the config."""
    return Feature(group, [*members][-1], {"generationConfig": members})


def _thinking(name: str, value: Any) -> Feature:
    config = {"thinkingConfig": {name: value}}
    return Feature("reasoning", name, {"generationConfig": config})


FEATURES = Features(
    {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
    [
        _config("sampling", temperature=0.5),
        _config("sampling", topP=0.5),
        _config("sampling", topK=5),
        _config("sampling", seed=1),
        _config("sampling", stopSequences=["END"]),
        _config("sampling", candidateCount=2),
        _config("sampling", presencePenalty=1),
        _config("sampling", frequencyPenalty=1),
        _config("answer", maxOutputTokens=4096),
        _config("answer", logprobs=2, responseLogprobs=True),
        _config("answer", responseMimeType="application/json"),
        _config("answer", responseMimeType="application/json", responseSchema={"type": "OBJECT"}),
        _config("answer", responseModalities=["TEXT", "IMAGE"]),
        _config("answer", responseModalities=["AUDIO"], speechConfig=_VOICE),
        _config("answer", mediaResolution="MEDIA_RESOLUTION_LOW"),
        _thinking("thinkingBudget", 1024),
        _thinking("includeThoughts", True),
        Feature("tools", "functionDeclarations", {"tools": _TOOLS}),
        Feature("tools", "toolConfig", {"tools": _TOOLS, "toolConfig": _ANY}),
        Feature("tools", "googleSearch", {"tools": [{"googleSearch": {}}]}),
        Feature("tools", "codeExecution", {"tools": [{"codeExecution": {}}]}),
        Feature("tools", "urlContext", {"tools": [{"urlContext": {}}]}),
        _inline("images", "image/png", "iVBORw0KGgo="),
        _inline("audio", "audio/wav"),
        _inline("video", "video/mp4"),
        _inline("documents", "application/pdf", "JVBERi0="),
        _content("fileData", fileData=_LINK),
        *each_alone("state", cachedContent="cachedContents/1", safetySettings=[_FILTER]),
    ],
)
