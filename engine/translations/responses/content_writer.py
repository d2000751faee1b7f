"""Blocks -> the items of responses requests."""

from __future__ import annotations

from typing import Any

from engine.translations.neutral.calls import ToolNames, call_id
from engine.translations.neutral.content import (
    Block,
    Foreign,
    Inline,
    Json,
    Media,
    PlainText,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
    UploadedFile,
    is_mark,
)
from engine.translations.neutral.limits import Losses
from engine.translations.neutral.request import ChatRequest, Message
from engine.translations.openai_content import is_sendable, why_not, write_url
from engine.translations.responses.answer_fields import NAME, signed_members, summary_of
from engine.translations.responses.content_reader import PART

_TEXT = {"type", "text"}

_PARTS = (Text, Refusal, Media)
"""Blocks that are parts of messages, not items."""


class ItemWriter:
    """Writes the items of one request. `same_language`: the request was of this language."""

    def __init__(self, names: ToolNames, losses: Losses, *, same_language: bool) -> None:
        self._names = names
        self._losses = losses
        self._same_language = same_language
        self._messages = 0

    def write(self, request: ChatRequest, *, instructions: bool) -> list[Any]:
        """All items; with the `instructions` of the beginning as the first one."""
        items: list[Any] = []
        if instructions and request.system:
            parts = [self._part(block, "system") for block in request.system]
            items.append({"role": "developer", "content": [p for p in parts if p is not None]})
        for message in request.messages:
            items += self._items(message)
        return items

    def _items(self, message: Message) -> list[Any]:
        items: list[Any] = []
        parts: list[Any] = []
        for block in message.blocks:
            if isinstance(block, _PARTS) or (
                isinstance(block, Foreign) and block.kind.startswith(PART)
            ):
                part = self._part(block, message.role)
                if part is not None:
                    parts.append(part)
            elif (item := self._item(block)) is not None:
                items += self._message(message, parts)
                items.append(item)
                parts = []
        if not items and not parts and message.role == "user" and not self._same_language:
            parts = [{"type": "input_text", "text": ""}]  # a turn that says nothing is one
        items += self._message(message, parts)
        return items

    def _message(self, message: Message, parts: list[Any]) -> list[Json]:
        """The message of some parts, none without any."""
        if not parts:
            return []
        if message.role != "assistant" or self._same_language:
            role = "developer" if message.role == "system" else message.role
            item: Json = {"role": role, "content": parts}
            return [item | message.extra if self._same_language else item]
        texts = [part["text"] for part in parts if part["type"] == "output_text"]
        if len(texts) == len(parts):
            return [{"role": "assistant", "content": "".join(texts)}]
        self._messages += 1
        item_id = f"msg_{self._messages}"  # required; it names nothing that is stored
        members = {"type": "message", "id": item_id, "status": "completed"}
        return [{**members, "role": "assistant", "content": parts}]

    def _item(self, block: Block) -> Any:
        """A block that is an item; None for one that cannot be said."""
        item: Json | None = None
        if isinstance(block, ToolCall):
            item = {
                "type": "function_call",
                "call_id": call_id(block.id),
                "name": self._names.legal(block.name),
                "arguments": block.arguments or "{}",
            }
        elif isinstance(block, ToolResult):
            item = {
                "type": "function_call_output",
                "call_id": call_id(block.id),
                "output": self._output(block),
            }
        elif isinstance(block, Reasoning):
            item = self._reasoning(block)
        elif isinstance(block, Foreign) and block.language == NAME:
            return block.raw
        else:
            self._losses.add(block.place, why_not(block))
        if item is not None and self._same_language:
            item |= block.extra
        return item

    def _reasoning(self, block: Reasoning) -> Json | None:
        signature = block.signature
        if signature is not None and signature.language == NAME:
            members = signed_members(signature)
        elif self._same_language:
            members = {"id": block.id} if block.id else {}
        else:
            if not is_mark(block):
                self._losses.add(block.place, "these thoughts are another vendor's", hint=True)
            return None
        return {"type": "reasoning", "summary": summary_of(block), **members}

    def _output(self, block: ToolResult) -> Any:
        parts = [part for each in block.content if (part := self._part(each, "user")) is not None]
        if block.is_error:
            parts.insert(0, {"type": "input_text", "text": "Error: "})
        texts = [part["text"] for part in parts if part.keys() == _TEXT]
        return "".join(texts) if len(texts) == len(parts) else parts

    def _part(self, block: Block, role: str) -> Any:
        """One part; None for a block without content and for one that cannot be said."""
        part: Json | None = None
        is_answer = role == "assistant"
        if isinstance(block, Text):
            part = {"type": "output_text" if is_answer else "input_text", "text": block.text}
            if is_answer and not self._same_language:
                part["annotations"] = []
            part = part if block.text else None
        elif isinstance(block, Refusal):
            part = {"type": "refusal", "refusal": block.text}
        elif isinstance(block, Media) and not is_answer:
            part = self._media(block)
        elif isinstance(block, Foreign) and block.language == NAME:
            return block.raw
        else:
            self._losses.add(block.place, why_not(block))
        if part is not None and self._same_language:
            part |= block.extra
        return part

    def _media(self, block: Media) -> Json | None:
        source = block.source
        if isinstance(source, PlainText):
            return {"type": "input_text", "text": source.text}
        where: Json | None = None
        if isinstance(source, UploadedFile) and source.language == NAME:
            where = {"file_id": source.id}
        if block.kind == "image":
            if is_sendable(source):
                where = {"image_url": write_url(source)}
            if where is not None:
                return {"type": "input_image", "detail": block.detail or "auto", **where}
        elif block.kind == "document":
            if is_sendable(source):
                member = "file_data" if isinstance(source, Inline) else "file_url"
                where = {member: write_url(source)}
            if where is not None:
                name = block.name or ("document" if isinstance(source, Inline) else "")
                return {"type": "input_file", **({"filename": name} if name else {}), **where}
        elif self._same_language and isinstance(source, Inline):
            audio = {"data": source.data, "format": source.media_type.partition("/")[2]}
            return {"type": "input_audio", "input_audio": audio}
        self._losses.add(block.place, why_not(block))
        return None
