"""Blocks -> the messages of chat completions requests."""

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
from engine.translations.neutral.request import ChatRequest, Message, merged

NAME = "chat_completions"
_AUDIO = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mp3": "mp3", "audio/mpeg": "mp3"}
_MEDIA_OF_RESULT = "(The tool returned this beside its text.)"

Json = dict[str, Any]


class MessageWriter:
    """Writes the messages of one request. `own`: the request was of this language."""

    def __init__(self, names: ToolNames, losses: Losses, *, own: bool) -> None:
        self._names = names
        self._losses = losses
        self._own = own

    def write(self, request: ChatRequest) -> list[Json]:
        """All messages: the instructions first."""
        messages: list[Json] = []
        if request.system:
            content = self._content(list(request.system))
            messages.append({"role": "system", "content": content})
        turns = request.messages if self._own else merged(request.messages)
        for message in turns:
            write = self._assistant if message.role == "assistant" else self._others
            messages += write(message)
        return messages

    def _others(self, message: Message) -> list[Json]:
        """A user's or system turn. Results of tools come first: the vendor wants them directly
        behind the calls."""
        results = [block for block in message.blocks if isinstance(block, ToolResult)]
        rest = [block for block in message.blocks if not isinstance(block, ToolResult)]
        messages = [self._result(block) for block in results]
        for block in results:
            media = [each for each in block.content if isinstance(each, Media)]
            if media:
                rest = [Text(text=_MEDIA_OF_RESULT), *media, *rest]
        parts = [part for block in rest if (part := self._part(block)) is not None]
        if parts or not results:
            messages.append(self._message(message, {"content": _simple(parts)}))
        elif message.extra and self._own:
            messages[-1].update(message.extra)
        return messages

    def _assistant(self, message: Message) -> list[Json]:
        values: Json = {}
        reasoning, parts, calls = [], [], []
        for block in message.blocks:
            if isinstance(block, ToolCall):
                calls.append(self._call(block))
            elif isinstance(block, Reasoning):
                reasoning.append(block)
            elif (part := self._part(block)) is not None:
                parts.append(part)
        if not (parts or calls):
            return []
        values["content"] = _simple(parts) if parts else None
        for block in reasoning:
            self._write_reasoning(block, values)
        if calls:
            values["tool_calls"] = calls
        return [self._message(message, values)]

    def _message(self, message: Message, values: Json) -> Json:
        written = {"role": message.role, **values}
        if message.name:
            written["name"] = message.name
        if self._own:
            written.update(message.extra)
        return written

    def _write_reasoning(self, block: Reasoning, values: Json) -> None:
        """Thoughts return in the member that they came in; those of other vendors cannot."""
        signature = block.signature
        if signature is None or signature.language != NAME:
            self._losses.add(block.place, "these thoughts are another vendor's", hint=True)
            return
        values[signature.value] = values.get(signature.value, "") + block.text

    def _result(self, block: ToolResult) -> Json:
        texts: list[Block] = []
        for each in block.content:
            if isinstance(each, Text):
                texts.append(each)
            elif not isinstance(each, Media):
                self._lose(each)
        content = self._content(texts)
        if block.is_error:
            prefix = {"type": "text", "text": "Error: "}
            content = f"Error: {content}" if isinstance(content, str) else [prefix, *content]
        return {"role": "tool", "tool_call_id": call_id(block.id, 40), "content": content}

    def _call(self, block: ToolCall) -> Json:
        function = {"name": self._names.legal(block.name), "arguments": block.arguments or "{}"}
        return {"id": call_id(block.id, 40), "type": "function", "function": function}

    def _content(self, blocks: list[Block]) -> Any:
        return _simple([part for block in blocks if (part := self._part(block)) is not None])

    def _part(self, block: Block) -> Json | None:
        """One part; None for a block without content and for one that cannot be said."""
        part: Json | None = None
        if isinstance(block, Text):
            part = {"type": "text", "text": block.text} if block.text else None
        elif isinstance(block, Refusal):
            part = {"type": "refusal", "refusal": block.text}
        elif isinstance(block, Media):
            part = self._media(block)
        elif isinstance(block, Foreign) and block.language == NAME:
            return block.raw  # type: ignore[return-value]
        else:
            self._lose(block)
        if part is not None and self._own:
            part.update(block.extra)
        return part

    def _media(self, block: Media) -> Json | None:
        source = block.source
        if isinstance(source, PlainText):
            return {"type": "text", "text": source.text}
        if block.kind == "image" and isinstance(source, Inline | Link):
            url = data_url(source) if isinstance(source, Inline) else source.url
            image = {"url": url, **({"detail": block.detail} if block.detail else {})}
            return {"type": "image_url", "image_url": image}
        if block.kind == "audio" and isinstance(source, Inline) and source.media_type in _AUDIO:
            audio = {"data": source.data, "format": _AUDIO[source.media_type]}
            return {"type": "input_audio", "input_audio": audio}
        if block.kind == "document" and isinstance(source, Inline):
            file = {"filename": block.name or "document", "file_data": data_url(source)}
            return {"type": "file", "file": file}
        if isinstance(source, UploadedFile) and source.language == NAME:
            name = {"filename": block.name} if block.name else {}
            return {"type": "file", "file": {**name, "file_id": source.id}}
        self._lose(block)
        return None

    def _lose(self, block: Block) -> None:
        self._losses.add(block.place, _reason(block), hint=isinstance(block, Reasoning))


def _reason(block: Block) -> str:
    """Why a block cannot be said."""
    if isinstance(block, Foreign):
        return f"a block '{block.kind}' is another vendor's"
    if isinstance(block, Media) and isinstance(block.source, UploadedFile):
        return "the file was uploaded to another vendor"
    if isinstance(block, Media):
        form = " by URL" if isinstance(block.source, Link) else ""
        return f"the upstream takes no {block.kind}{form} here"
    return "the upstream has no form for it"


def _simple(parts: list[Json]) -> Any:
    """The text alone, if there is nothing else: every upstream understands that."""
    if not parts:
        return ""
    if len(parts) == 1 and isinstance(parts[0], dict) and parts[0].keys() == {"type", "text"}:
        return parts[0]["text"]
    return parts
