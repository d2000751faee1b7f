"""Blocks -> the items of responses requests."""

from __future__ import annotations

from typing import Any

from engine.translations.neutral import content as neutral
from engine.translations.neutral.calls import ToolNames, call_id
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import ChatRequest, Message
from engine.translations.responses.answer_fields import NAME, signed_members, summary_of
from engine.translations.vendors.openai_content import is_sendable, write_url
from engine.values.trees import Json

_PARTS = (neutral.Text, neutral.Refusal, neutral.Media)
"""The blocks that are parts of a message; others are items."""


class ItemWriter:
    def __init__(self, names: ToolNames, losses: Losses) -> None:
        self._names, self._losses = names, losses
        self._messages = 0

    def write(self, request: ChatRequest, *, instructions: bool) -> list[object]:
        """All items; with the `instructions` of the beginning as the first one."""
        items: list[Any] = []
        if instructions and request.system:
            parts = [self._part(block, "system") for block in request.system]
            items.append({"role": "developer", "content": [p for p in parts if p is not None]})
        for message in request.messages:
            items += self._items(message)
        return items

    def _items(self, message: Message) -> list[object]:
        items: list[object] = []
        parts: list[object] = []
        for block in message.blocks:
            if isinstance(block, _PARTS):
                part = self._part(block, message.role)
                if part is not None:
                    parts.append(part)
            elif (item := self._item(block)) is not None:
                if parts:
                    items.append(self._message(message, parts))
                    parts = []
                items.append(item)
        if not items and not parts and message.role == "user":
            parts = [{"type": "input_text", "text": ""}]  # a turn that says nothing is one
        if parts:
            items.append(self._message(message, parts))
        return items

    def _message(self, message: Message, parts: list[Any]) -> Json:
        if message.role != "assistant":
            role = "developer" if message.role == "system" else message.role
            return {"role": role, "content": parts}
        texts = [part["text"] for part in parts if part["type"] == "output_text"]
        if len(texts) == len(parts):
            return {"role": "assistant", "content": "".join(texts)}
        self._messages += 1
        item_id = f"msg_{self._messages}"  # required; it names nothing that is stored
        members = {"type": "message", "id": item_id, "status": "completed"}
        return {**members, "role": "assistant", "content": parts}

    def _item(self, block: neutral.Block) -> Json | None:
        """A block that is an item; None for one that cannot be said."""
        if isinstance(block, neutral.ToolCall):
            return {
                "type": "function_call",
                "call_id": call_id(block.id),
                "name": self._names.legal(block.name),
                "arguments": block.arguments or "{}",
            }
        if isinstance(block, neutral.ToolResult):
            return {
                "type": "function_call_output",
                "call_id": call_id(block.id),
                "output": self._output(block),
            }
        if isinstance(block, neutral.Reasoning):
            return self._reasoning(block)
        self._losses.add_block(block)
        return None

    def _reasoning(self, block: neutral.Reasoning) -> Json | None:
        signature = block.signature
        if signature is None or signature.language != NAME:
            if not neutral.is_mark(block):
                self._losses.add(block.place, "these thoughts are another vendor's", hint=True)
            return None
        return {"type": "reasoning", "summary": summary_of(block), **signed_members(signature)}

    def _output(self, block: neutral.ToolResult) -> object:
        parts = [part for each in block.content if (part := self._part(each, "user")) is not None]
        if block.is_error:
            parts.insert(0, {"type": "input_text", "text": "Error: "})
        texts = [part["text"] for part in parts if part.keys() == {"type", "text"}]
        return "".join(texts) if len(texts) == len(parts) else parts

    def _part(self, block: neutral.Block, role: str) -> Json | None:
        """One part; None for a block without content and for one that cannot be said."""
        is_answer = role == "assistant"
        if isinstance(block, neutral.Text):
            if not block.text:
                return None
            if is_answer:
                return {"type": "output_text", "text": block.text, "annotations": []}
            return {"type": "input_text", "text": block.text}
        if isinstance(block, neutral.Refusal):
            return {"type": "refusal", "refusal": block.text}
        if isinstance(block, neutral.Media) and not is_answer:
            return self._media(block)
        self._losses.add_block(block)
        return None

    def _media(self, block: neutral.Media) -> Json | None:
        source = block.source
        if isinstance(source, neutral.PlainText):
            return {"type": "input_text", "text": source.text}
        if block.kind == "image" and is_sendable(source):
            image = {"detail": block.detail or "auto", "image_url": write_url(source)}
            return {"type": "input_image", **image}
        if block.kind == "document" and is_sendable(source):
            is_inline = isinstance(source, neutral.Inline)
            name = block.name or ("document" if is_inline else "")
            file = {"filename": name} if name else {}
            file["file_data" if is_inline else "file_url"] = write_url(source)
            return {"type": "input_file", **file}
        self._losses.add_block(block)
        return None
