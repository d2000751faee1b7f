"""Blocks -> the contents of generate content requests."""

from __future__ import annotations

from msgspec import Raw

from engine.translations.generate_content import part_fields
from engine.translations.generate_content.models import Model
from engine.translations.neutral import content as neutral
from engine.translations.neutral.calls import ToolNames, sent_arguments
from engine.translations.neutral.json_members import OBJECT, value_of
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.turns import texts_only
from engine.values.trees import Json


class ContentWriter:
    """Writes the parts of one request."""

    def __init__(self, names: ToolNames, losses: Losses, model: Model) -> None:
        self._names, self._losses, self._model = names, losses, model
        self._calls: dict[str, tuple[int, str]] = {}
        self._count = 0

    def instructions(self, blocks: list[neutral.Block]) -> list[Json]:
        texts = texts_only(blocks, self._losses)
        return [part for text in texts if (part := self._part(text)) is not None]

    def ordered_parts(self, blocks: list[neutral.Block]) -> list[Json]:
        """Results first, in the order of their calls, as the vendor wants them."""
        if neutral.ToolResult not in map(type, blocks):
            return self.parts(blocks)
        results = [each for each in blocks if isinstance(each, neutral.ToolResult)]
        others = [each for each in blocks if not isinstance(each, neutral.ToolResult)]
        return self._results(results) + self.parts(others)

    def parts(self, blocks: list[neutral.Block]) -> list[Json]:
        """The parts of blocks in their order. Signatures stand before what they sign. The first
        call of a turn that has none gets one that the vendor accepts."""
        parts: list[Json] = []
        signature: neutral.Signature | None = None
        needs_signature = self._model.generation_3
        for block in blocks:
            if isinstance(block, neutral.Reasoning):
                if signature is not None:
                    parts.append(
                        {"text": "", "thoughtSignature": part_fields.write_signature(signature)}
                    )
                thought, signature = self._reasoning(block)
                if thought is not None:
                    parts.append(thought)
                continue
            part = self._part(block)
            if part is None:
                continue
            if signature is not None:
                part["thoughtSignature"] = part_fields.write_signature(signature)
                signature = None
            if isinstance(block, neutral.ToolCall) and needs_signature:
                part.setdefault("thoughtSignature", part_fields.UNSIGNED)
                needs_signature = False
            parts.append(part)
        if signature is not None:
            parts.append({"text": "", "thoughtSignature": part_fields.write_signature(signature)})
        return parts

    def _reasoning(self, block: neutral.Reasoning) -> tuple[Json | None, neutral.Signature | None]:
        """The part of thoughts, and the signature of the block that follows."""
        signature = block.signature
        if signature is not None and signature.language != part_fields.NAME:
            if not neutral.is_mark(block):
                self._losses.add(block.place, "these thoughts are another vendor's", hint=True)
            return None, None
        if signature is None:
            self._losses.add(block.place, "these thoughts have no signature", hint=True)
            return None, None
        part: Json = {"text": block.text, "thought": True}
        if signature.value.startswith(part_fields.THOUGHT):
            return {**part, "thoughtSignature": part_fields.write_signature(signature)}, None
        return part if block.text else None, signature

    def _results(self, blocks: list[neutral.ToolResult]) -> list[Json]:
        """The results of tools, followed by media that they cannot hold themselves."""
        after_all = (self._count + 1, "")
        blocks.sort(key=lambda each: self._calls.get(each.id, after_all)[0])
        parts, others = [], []
        for block in blocks:
            part, media = self._result(block)
            parts.append(part)
            others += media
        return [*parts, *others]

    def _result(self, block: neutral.ToolResult) -> tuple[Json, list[Json]]:
        _, name = self._calls.get(block.id, (0, ""))
        if not name:
            self._losses.add(block.place, "no call before it has this id")
        result: Json = {"id": block.id} if self._model.generation_3 else {}
        result["name"], result["response"] = name, _response(block)
        parts = []
        for each in block.content:
            if isinstance(each, neutral.Text):
                continue
            if not isinstance(each, neutral.Media):
                self._losses.add_block(each)
            elif (part := self._part(each)) is not None:
                parts.append(part)
        if parts and self._model.generation_3:
            result["parts"] = parts
            parts = []
        return {"functionResponse": result}, parts

    def _part(self, block: neutral.Block) -> Json | None:
        """One part; None for a block without content and for one that cannot be said."""
        if isinstance(block, (neutral.Text, neutral.Refusal)):
            return {"text": block.text} if block.text else None
        if isinstance(block, neutral.ToolCall):
            return {"functionCall": self._call(block)}
        if isinstance(block, neutral.Media):
            if block.name and block.name_place:
                self._losses.add(block.name_place, "files have no names", hint=True)
            return self._media(block)
        self._losses.add_block(block)
        return None

    def _call(self, block: neutral.ToolCall) -> Json:
        name = self._names.legal(block.name)
        self._count += 1
        self._calls[block.id] = (self._count, name)
        call: Json = {"id": block.id} if self._model.generation_3 else {}
        call["name"], call["args"] = name, sent_arguments(block)
        return call

    def _media(self, block: neutral.Media) -> Json | None:
        source = block.source
        if isinstance(source, neutral.PlainText):
            return {"text": source.text} if source.text else None
        if isinstance(source, neutral.Inline):
            blob = {"mimeType": source.media_type, "data": source.data}
            return {"inlineData": blob, **self._resolution(block)}
        is_read = isinstance(source, neutral.Link) and (
            source.is_web or source.url.startswith("gs://")
        )
        if isinstance(source, neutral.Link) and self._model.links and is_read:
            media_type = {"mimeType": source.media_type} if source.media_type else {}
            file = {**media_type, "fileUri": source.url}
            return {"fileData": file, **self._resolution(block)}
        self._losses.add_block(block)
        return None

    def _resolution(self, block: neutral.Media) -> Json:
        if block.detail in ("", "auto"):
            return {}
        if not self._model.generation_3 or block.detail not in ("low", "high"):
            self._losses.add_detail(block)
            return {}
        return {"mediaResolution": {"level": f"MEDIA_RESOLUTION_{block.detail.upper()}"}}


def _response(block: neutral.ToolResult) -> Json | Raw:
    """The object that stands for a tool's result."""
    text = "".join(each.text for each in block.content if isinstance(each, neutral.Text))
    if block.is_error:
        return {"error": text}
    if text.lstrip().startswith("{") and value_of(OBJECT, text) is not None:
        return Raw(text.encode())
    return {"result": text}
