"""Blocks -> the contents of generate content requests."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from engine.translations.generate_content.fields import NAME, THOUGHT, UNSIGNED, write_signature
from engine.translations.generate_content.models import Model
from engine.translations.neutral.arguments import arguments_object
from engine.translations.neutral.content import (
    Block,
    Foreign,
    Inline,
    Link,
    Media,
    PlainText,
    Reasoning,
    Refusal,
    Signature,
    Text,
    ToolCall,
    ToolResult,
    UploadedFile,
)
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.names import ToolNames
from engine.translations.neutral.request import ChatRequest, Message, merged

Json = dict[str, Any]


class ContentWriter:
    """Writes the contents of one request. `own`: the request was of this language."""

    def __init__(self, names: ToolNames, losses: Losses, model: Model, *, own: bool) -> None:
        self._names = names
        self._losses = losses
        self._model = model
        self._own = own
        self._calls: dict[str, str] = {}
        """Names of the calls up to now, by their ids."""

    def write(self, request: ChatRequest) -> tuple[list[Json], list[Json]]:
        """The parts of the instructions, and the contents. Instructions between turns have no place
        of their own: they join those at the beginning."""
        system: list[Block] = list(request.system)
        turns: list[Message] = []
        for message in request.messages:
            if message.role == "system":
                system += message.blocks
            else:
                turns.append(message)
        contents = []
        for message in turns if self._own else merged(turns):
            if parts := self._parts(message):
                role = "model" if message.role == "assistant" else "user"
                contents.append({"role": role, "parts": parts})
        parts = [part for block in system if (part := self._part(block)) is not None]
        return parts, contents

    def _parts(self, message: Message) -> list[Json]:
        """The parts of a turn: results first, in the order of their calls."""
        results = [block for block in message.blocks if isinstance(block, ToolResult)]
        others = [block for block in message.blocks if not isinstance(block, ToolResult)]
        order = list(self._calls)
        results.sort(key=lambda each: order.index(each.id) if each.id in order else len(order))
        parts = [part for block in results for part in self._result(block)]
        signature: Signature | None = None
        signed = False
        for block in others:
            if isinstance(block, Reasoning):
                signature = self._reasoning(block, parts) or signature
                continue
            part = self._part(block)
            if part is None:
                continue
            if signature is not None:
                part["thoughtSignature"] = write_signature(signature)
                signature, signed = None, True
            elif isinstance(block, ToolCall) and self._model.signs_calls and not signed:
                part["thoughtSignature"], signed = UNSIGNED, True
            parts.append(part)
        if signature is not None:
            parts.append({"text": "", "thoughtSignature": write_signature(signature)})
        return parts

    def _reasoning(self, block: Reasoning, parts: list[Json]) -> Signature | None:
        """Write thoughts of this vendor; returns the signature of the block that follows."""
        signature = block.signature
        if signature is not None and signature.language != NAME:
            signature = None
            if not self._own:
                self._losses.add(block.place, "these thoughts are another vendor's", hint=True)
                return None
        elif signature is None and not self._own:
            self._losses.add(block.place, "these thoughts have no signature", hint=True)
            return None
        own = signature is not None and signature.value.startswith(THOUGHT)
        if block.text:
            part: Json = {"text": block.text, "thought": True}
            if own and signature is not None:
                part["thoughtSignature"] = write_signature(signature)
            parts.append(part)
        return None if own else signature

    def _result(self, block: ToolResult) -> list[Json]:
        response: Json = {"name": self._calls.get(block.id, self._names.legal(block.name))}
        if self._model.call_ids:
            response["id"] = block.id
        media = [self._part(each) for each in block.content if isinstance(each, Media)]
        for each in block.content:
            if not isinstance(each, Media | Text):
                self._lose(each)
        own = block.extra.get("response") if self._own else None
        response["response"] = own if own is not None else _response(block)
        blobs = [each for each in media if each is not None]
        if blobs and self._model.call_ids:
            response["parts"] = blobs
            blobs = []
        return [{"functionResponse": response}, *blobs]

    def _part(self, block: Block) -> Json | None:
        """One part; None for a block without content and for one that cannot be said."""
        part: Json | None = None
        if isinstance(block, Text | Refusal):
            part = {"text": block.text} if block.text else None
        elif isinstance(block, ToolCall):
            part = {"functionCall": self._call(block)}
        elif isinstance(block, Media):
            part = self._media(block)
        elif isinstance(block, Foreign) and block.language == NAME:
            return msgspec.json.decode(block.raw)  # type: ignore[no-any-return]
        else:
            self._lose(block)
        if part is not None and self._own:
            part.update(block.extra)
        return part

    def _call(self, block: ToolCall) -> Json:
        name = self._names.legal(block.name)
        self._calls[block.id] = name
        call: Json = {"id": block.id} if self._model.call_ids else {}
        return {**call, "name": name, "args": arguments_object(block)}

    def _media(self, block: Media) -> Json | None:
        source = block.source
        if isinstance(source, PlainText):
            return {"text": source.text}
        if isinstance(source, Inline):
            return {"inlineData": {"mimeType": source.media_type, "data": source.data}}
        uri = ""
        if isinstance(source, UploadedFile) and source.language == NAME:
            uri = source.id
        elif isinstance(source, Link) and self._model.json_schema:  # older ones take no URLs
            uri = source.url
        if not uri:
            self._lose(block)
            return None
        media_type = {"mimeType": source.media_type} if source.media_type else {}
        return {"fileData": {**media_type, "fileUri": uri}}

    def _lose(self, block: Block) -> None:
        reason = "the upstream has no form for it"
        if isinstance(block, Foreign):
            reason = f"a block '{block.kind}' is another vendor's"
        self._losses.add(block.place, reason)


def _response(block: ToolResult) -> Json | Raw:
    """The object that stands for a tool's result."""
    text = "".join(each.text for each in block.content if isinstance(each, Text))
    if block.is_error:
        return {"error": text}
    if text.lstrip().startswith("{"):
        try:
            msgspec.json.decode(text, type=dict)
            return Raw(text.encode())
        except (msgspec.DecodeError, RecursionError):
            pass  # text that only looks like an object
    return {"result": text}
