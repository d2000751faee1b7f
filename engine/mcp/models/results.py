"""Answers of models as results of tools: the text of a chat, an image, a transcript, numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.mcp.models.model_tool import ModelTool
from engine.mcp.protocol.results import (
    Answer,
    ToolResult,
    json_result,
    result_of,
    text_result,
)
from engine.values.event_json import json_object
from engine.values.trees import objects_of

_IMAGE_TYPES = {"png": "image/png", "jpeg": "image/jpeg", "webp": "image/webp"}


def model_result(tool: ModelTool, answer: Answer) -> ToolResult:
    """The result of a call that was answered. What has another form than expected is shown as it
    is."""
    result = None
    if answer.status < 400 and answer.complete and not answer.broke_off:
        result = _of_kind(tool.name, json_object(answer.body))
    return result or result_of(answer, tool.name)


def _of_kind(kind: str, document: Mapping[str, Any]) -> ToolResult | None:
    if kind == "chat":
        text = "".join(_chat_texts(document))
        return text_result(text) if text else None
    if kind == "transcribe":
        transcript = document.get("text")
        return text_result(transcript) if isinstance(transcript, str) else None
    if kind == "generate_image":
        return _images(document)
    if kind == "embed":
        vectors = [each.get("embedding") for each in objects_of(document.get("data"))]
        return json_result({"model": document.get("model"), "embeddings": vectors})
    return None  # rerank: its scores as they are


def _chat_texts(document: Mapping[str, Any]) -> Iterator[str]:
    """The text of an answer of Chat Completions or of Messages."""
    for choice in objects_of(document.get("choices")):
        message = choice.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, str):
            yield content
        elif isinstance(message, dict) and isinstance(message.get("refusal"), str):
            yield message["refusal"]
    for part in objects_of(document.get("content")):
        if isinstance(part.get("text"), str):
            yield part["text"]


def _images(document: Mapping[str, Any]) -> ToolResult | None:
    content: list[dict[str, Any]] = []
    media_type = _IMAGE_TYPES.get(str(document.get("output_format", "png")), "image/png")
    for image in objects_of(document.get("data")):
        if isinstance(image.get("b64_json"), str):
            content.append({"type": "image", "data": image["b64_json"], "mimeType": media_type})
        elif isinstance(image.get("url"), str):
            content.append({"type": "resource_link", "uri": image["url"], "name": "image"})
    return ToolResult(content) if content else None
