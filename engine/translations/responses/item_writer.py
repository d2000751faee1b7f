"""Blocks -> the items of responses requests."""

from __future__ import annotations

from typing import Any

from engine.translations.neutral.content import (
    Block,
    Foreign,
    Inline,
    Link,
    Media,
    PlainText,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
    UploadedFile,
)
from engine.translations.neutral.data_url import data_url
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.names import ToolNames, call_id
from engine.translations.neutral.request import ChatRequest, Message
from engine.translations.responses.item_reader import NAME

Json = dict[str, Any]


class ItemWriter:
    """Writes the items of one request. `own`: the request was of this language."""

    def __init__(self, names: ToolNames, losses: Losses, *, own: bool) -> None:
        self._names = names
        self._losses = losses
        self._own = own

    def write(self, request: ChatRequest, *, instructions: bool) -> list[Any]:
        """All items; with the `instructions` of the beginning as the first one."""
        items: list[Any] = []
        if instructions and request.system:
            parts = [self._part(block, "system") for block in request.system]
            items.append({"role": "developer", "content": [p for p in parts if p is not None]})
        for message in request.messages:
            items += self._message(message)
        return items

    def _message(self, message: Message) -> list[Any]:
        items: list[Any] = []
        parts: list[Any] = []

        def finish() -> None:
            if parts:
                role = "developer" if message.role == "system" else message.role
                extra = message.extra if self._own else {}
                items.append({"role": role, "content": list(parts), **extra})
                parts.clear()

        for block in message.blocks:
            item = self._item(block)
            if item is not None:
                finish()
                items.append(item)
            elif not isinstance(block, Reasoning | ToolCall | ToolResult):
                part = self._part(block, message.role)
                if part is not None:
                    parts.append(part)
        finish()
        return items

    def _item(self, block: Block) -> Any:
        """A block that is an item of its own; None for any other."""
        item: Json | None = None
        if isinstance(block, ToolCall):
            item = {
                "type": "function_call",
                "call_id": call_id(block.id),
                "name": self._names.legal(block.name),
                "arguments": block.arguments or "{}",
            }
        elif isinstance(block, ToolResult):
            output = self._output(block)
            item = {
                "type": "function_call_output",
                "call_id": call_id(block.id),
                "output": output,
            }
        elif isinstance(block, Reasoning):
            item = self._reasoning(block)
        elif isinstance(block, Foreign) and block.language == NAME:
            return block.raw
        if item is not None and self._own:
            item |= block.extra
        return item

    def _reasoning(self, block: Reasoning) -> Json | None:
        signature = block.signature
        if signature is None or signature.language != NAME:
            self._losses.add(block.place, "these thoughts are another vendor's", hint=True)
            return None
        summary = [{"type": "summary_text", "text": block.text}] if block.text else []
        item: Json = {"type": "reasoning", "summary": summary}
        if block.id and self._own:
            item["id"] = block.id
        return {**item, "encrypted_content": signature.value}

    def _output(self, block: ToolResult) -> Any:
        parts = [part for each in block.content if (part := self._part(each, "user")) is not None]
        if block.is_error:
            parts.insert(0, {"type": "input_text", "text": "Error: "})
        if all(part.get("type") == "input_text" and len(part) == 2 for part in parts):
            return "".join(part["text"] for part in parts)
        return parts

    def _part(self, block: Block, role: str) -> Any:
        """One part; None for a block without content and for one that cannot be said."""
        part: Json | None = None
        answers = role == "assistant"
        if isinstance(block, Text):
            kind = "output_text" if answers else "input_text"
            part = {"type": kind, "text": block.text} if block.text else None
        elif isinstance(block, Refusal):
            part = {"type": "refusal", "refusal": block.text}
        elif isinstance(block, Media) and not answers:
            part = self._media(block)
        else:
            self._lose(block)
        if part is not None and self._own:
            part |= block.extra
        return part

    def _media(self, block: Media) -> Json | None:
        source = block.source
        if isinstance(source, PlainText):
            return {"type": "input_text", "text": source.text}
        uploaded = isinstance(source, UploadedFile) and source.language == NAME
        if block.kind == "image":
            image: Json = {"type": "input_image", "detail": block.detail or "auto"}
            if isinstance(source, Inline | Link):
                url = data_url(source) if isinstance(source, Inline) else source.url
                return {**image, "image_url": url}
            if uploaded:
                return {**image, "file_id": source.id}
        elif block.kind == "document":
            file: Json = {"type": "input_file"}
            if block.name or isinstance(source, Inline):
                file["filename"] = block.name or "document"
            if isinstance(source, Inline):
                return {**file, "file_data": data_url(source)}
            if isinstance(source, Link):
                return {**file, "file_url": source.url}
            if uploaded:
                return {**file, "file_id": source.id}
        self._lose(block)
        return None

    def _lose(self, block: Block) -> None:
        reason = "the upstream has no form for it"
        if isinstance(block, Foreign):
            reason = f"a block '{block.kind}' is another vendor's"
        self._losses.add(block.place, reason)
