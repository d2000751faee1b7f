"""Blocks -> the messages of chat completions requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.translations.chat_completions.answer_fields import NAME
from engine.translations.chat_completions.thoughts import ExtraWriter, write_thoughts
from engine.translations.neutral import content as neutral
from engine.translations.neutral.calls import ToolNames, call_id
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import ChatRequest, Message, merged
from engine.translations.neutral.turns import results_first
from engine.translations.vendors.openai_content import is_sendable, write_url
from engine.translations.vendors.openai_models import is_vendors_own
from engine.values.trees import Json

_TEXT = {"type", "text"}
_AUDIO = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mp3": "mp3", "audio/mpeg": "mp3"}


class MessageWriter:
    """Writes the messages of one request for a model. `marks`: parts are marked for the cache, as
    vendors that serve Anthropic's models take them; `joins`: texts alone are one text, since others
    than OpenAI refuse lists (https://github.com/QwenLM/qwen-code/pull/2320)."""

    def __init__(self, names: ToolNames, losses: Losses, model: str) -> None:
        self._names, self._losses = names, losses
        self.marks, self._gemini = "claude" in model, "gemini" in model.lower()
        self.joins = not (self.marks or is_vendors_own(model))

    def write(self, request: ChatRequest) -> list[Json]:
        messages: list[Json] = []
        if request.system:
            content = self._content(request.system, "system")
            messages.append({"role": "system", "content": content})
        turns = merged(request.messages)
        ordered = results_first(turns)
        if ordered is not turns:  # neighbours may have one role again
            turns = merged(ordered)
        for message in turns:
            write = self._assistant if message.role == "assistant" else self._others
            messages += write(message)
        return messages

    def _others(self, message: Message) -> list[Json]:
        """A user's or system turn. Results are text: their images follow as the user's."""
        if neutral.ToolResult not in map(type, message.blocks):
            content = self._content(message.blocks, message.role)
            is_empty = message.role == "system" and not content
            return [] if is_empty else [{"role": message.role, "content": content}]
        messages: list[Json] = []
        media: list[neutral.Block] = []
        others: list[neutral.Block] = []
        for block in message.blocks:
            if not isinstance(block, neutral.ToolResult):
                others.append(block)
                continue
            messages.append(self._result(block))
            if neutral.Media in map(type, block.content):
                media.append(neutral.Text(text="(The tool returned this beside its text.)"))
                media += [each for each in block.content if isinstance(each, neutral.Media)]
        if content := self._content(media + others, message.role):
            messages.append({"role": message.role, "content": content})
        return messages

    def _assistant(self, message: Message) -> list[Json]:
        calls: list[object] = []
        thoughts: list[neutral.Reasoning] = []
        content: list[neutral.Block] = []
        values: Json = {}
        signatures: ExtraWriter | None = None
        for block in message.blocks:
            if isinstance(block, neutral.ToolCall):
                call = self._call(block)
                calls.append(call if signatures is None else signatures.sign(call))
            elif isinstance(block, neutral.Reasoning):
                if neutral.is_mark(block):
                    continue
                signature = block.signature
                is_own = signature is not None and signature.language == NAME
                if not block.text and (self._gemini or is_own):
                    signatures = signatures or ExtraWriter(gemini=self._gemini)
                    if signatures.take(block, calls, values):
                        continue
                thoughts.append(block)
            else:
                content.append(block)
        parts = self._parts(content, "assistant")
        if signatures is not None:
            signatures.sign(values)
        if thoughts:
            members, foreign_thoughts = write_thoughts(thoughts)
            values |= members
            for block in foreign_thoughts:
                self._losses.add(block.place, "these thoughts are another vendor's", hint=True)
        if not (parts or calls):
            return []
        values = {"role": "assistant", "content": self._simple(parts) if parts else None, **values}
        if calls:
            values["tool_calls"] = calls
        return [values]

    def _result(self, block: neutral.ToolResult) -> Json:
        texts: list[neutral.Block] = []
        for each in block.content:
            if isinstance(each, neutral.Text):
                texts.append(each)
            elif not isinstance(each, neutral.Media):
                self._losses.add_block(each)
        content = self._content(texts, "tool")
        if block.is_error:
            prefix = {"type": "text", "text": "Error: "}
            content = f"Error: {content}" if isinstance(content, str) else [prefix, *content]
        if self.marks and block.cache and content:
            content = [{"type": "text", "text": content}] if isinstance(content, str) else content
            neutral.mark(content[-1], block.cache)
        return {"role": "tool", "tool_call_id": call_id(block.id, 40), "content": content}

    def _call(self, block: neutral.ToolCall) -> Json:
        function = {"name": self._names.legal(block.name), "arguments": block.arguments or "{}"}
        return {"id": call_id(block.id, 40), "type": "function", "function": function}

    def _content(self, blocks: Sequence[neutral.Block], role: str) -> Any:
        only = blocks[0] if len(blocks) == 1 else None
        if isinstance(only, neutral.Text) and not only.cache:  # nearly always
            return only.text
        return self._simple(self._parts(blocks, role))

    def _simple(self, parts: list[Json]) -> object:
        """The text alone, if there is nothing else: every upstream understands that."""
        if (len(parts) == 1 or self.joins) and all(part.keys() == _TEXT for part in parts):
            return "\n\n".join(part["text"] for part in parts)
        return parts or ""

    def _parts(self, blocks: Sequence[neutral.Block], role: str) -> list[Json]:
        return [part for block in blocks if (part := self._part(block, role)) is not None]

    def _part(self, block: neutral.Block, role: str) -> Json | None:
        """One part; None for a block without content and for one that cannot be said."""
        part: Json | None = None
        if isinstance(block, neutral.Text):
            part = {"type": "text", "text": block.text} if block.text else None
        elif isinstance(block, neutral.Refusal):
            part = {"type": "refusal", "refusal": block.text}
        elif isinstance(block, neutral.Media) and role == "user":
            part = self._media(block)
        else:
            self._losses.add_block(block)
        if self.marks:
            neutral.mark(part, block.cache)
        return part

    def _media(self, block: neutral.Media) -> Json | None:
        source = block.source
        if isinstance(source, neutral.PlainText):
            return {"type": "text", "text": source.text}
        if block.kind == "image" and is_sendable(source):
            image = {"url": write_url(source), **({"detail": block.detail} if block.detail else {})}
            return {"type": "image_url", "image_url": image}
        if (
            block.kind == "audio"
            and isinstance(source, neutral.Inline)
            and source.media_type in _AUDIO
        ):
            audio = {"data": source.data, "format": _AUDIO[source.media_type]}
            return {"type": "input_audio", "input_audio": audio}
        if block.kind == "document" and isinstance(source, neutral.Inline):
            file = {"filename": block.name or "document", "file_data": write_url(source)}
            return {"type": "file", "file": file}
        self._losses.add_block(block)
        return None
