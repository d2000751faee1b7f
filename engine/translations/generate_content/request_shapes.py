"""The shapes of generate content requests (the members that are read), and the features of
callers."""

from __future__ import annotations

from msgspec import Raw, field

from engine.translations.generate_content.part_fields import Blob, FileData, VendorObject
from engine.translations.neutral.language import Feature, Features, each_alone


class FunctionCall(VendorObject):
    id: str | None = None
    name: str | None = None
    args: Raw = Raw()


class ResponsePart(VendorObject):
    inline_data: Blob | None = None
    file_data: FileData | None = None


class FunctionResponse(VendorObject):
    id: str | None = None
    name: str | None = None
    response: Raw = Raw()
    parts: list[ResponsePart] | None = None


class MediaResolution(VendorObject):
    level: str | None = None


class PartObject(VendorObject):
    notes = False

    text: str | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    inline_data: Blob | None = None
    file_data: FileData | None = None
    function_call: FunctionCall | None = None
    function_response: FunctionResponse | None = None
    media_resolution: MediaResolution | None = None


class ContentObject(VendorObject):
    role: str | None = None
    parts: list[Raw] | None = None


class FunctionDeclaration(VendorObject):
    """A function, with its arguments in JSON Schema or in the vendor's own."""

    name: str | None = None
    description: str | None = None
    parameters_json_schema: Raw = Raw()
    parameters: Raw = Raw()


class ToolObject(VendorObject):
    """Functions and other tools; those that are not declared here are this vendor's."""

    notes = False

    function_declarations: list[FunctionDeclaration] | None = None
    google_search: Raw = Raw()


class ThinkingConfig(VendorObject):
    thinking_budget: int | None = None
    thinking_level: str | None = None
    include_thoughts: bool | None = None


class ConfigObject(VendorObject):
    max_output_tokens: int | None = None
    candidate_count: int | None = None
    temperature: Raw = Raw()
    top_p: Raw = Raw()
    top_k: Raw = Raw()
    seed: Raw = Raw()
    presence_penalty: Raw = Raw()
    frequency_penalty: Raw = Raw()
    stop_sequences: list[str] | None = None
    response_logprobs: bool | None = None
    logprobs: int | None = None
    response_mime_type: str | None = None
    response_schema: Raw = Raw()
    response_json_schema: Raw = Raw()
    older_json_schema: Raw = field(default=Raw(), name="_responseJsonSchema")
    thinking_config: ThinkingConfig | None = None
    response_modalities: Raw = Raw()


class RequestObject(VendorObject):
    notes = False

    model: str | None = None
    contents: ContentObject | list[ContentObject] | None = None
    system_instruction: str | ContentObject | None = None
    tools: list[ToolObject] | None = None
    tool_config: Raw = Raw()
    generation_config: ConfigObject | None = None
    safety_settings: Raw = Raw()


_PLACE = "generationConfig"
_TOOLS = [{"functionDeclarations": [{"name": "look", "parameters": {"type": "OBJECT"}}]}]
_ANY = {"functionCallingConfig": {"mode": "ANY"}}
_VOICE = {"voiceConfig": {"prebuiltVoiceConfig": {"voiceName": "Kore"}}}
_LINK = {"mimeType": "image/png", "fileUri": "https://example.com/a.png"}
_FILTER = {"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_LOW_AND_ABOVE"}


def _content(name: str, **part: object) -> Feature:
    contents = [{"role": "user", "parts": [{"text": "Hi"}, part]}]
    return Feature("content", name, {"contents": contents})


def _inline(name: str, media_type: str, data: str = "AAAA") -> Feature:
    return _content(name, inlineData={"mimeType": media_type, "data": data})


def _config(group: str, **members: object) -> Feature:
    """A feature that is called like the last of these members of the config."""
    return Feature(group, [*members][-1], {_PLACE: members})


def _thinking(name: str, value: object) -> Feature:
    return Feature("reasoning", name, {_PLACE: {"thinkingConfig": {name: value}}})


FEATURES = Features(
    {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
    [
        *each_alone("sampling", _PLACE, temperature=0.5, topP=0.5, topK=5, seed=1),
        *each_alone("sampling", _PLACE, stopSequences=["END"], candidateCount=2),
        *each_alone("sampling", _PLACE, presencePenalty=1, frequencyPenalty=1),
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
