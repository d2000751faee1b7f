"""The contents of generate content requests -> messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Raw

from engine.translations.generate_content.fields import NAME, THOUGHT, field, read_signature
from engine.translations.neutral.content import (
    Block,
    Foreign,
    Inline,
    Link,
    Media,
    Reasoning,
    Signature,
    Source,
    Text,
    ToolCall,
    ToolResult,
    UploadedFile,
)
from engine.translations.neutral.members import Members
from engine.translations.neutral.request import Message

_CODE = ("executableCode", "codeExecutionResult")
_UPLOADED = ("gs://", "https://generativelanguage.googleapis.com/", "https://www.youtube.com/")

MediaKind = Literal["image", "audio", "video", "document"]
_KINDS: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video"}


class ContentReader:
    """Reads the contents of one request. Calls without ids get them by their position, results
    those of the calls that they answer: of the same name, in their order."""

    def __init__(self) -> None:
        self._waiting: list[tuple[str, str]] = []
        self._calls = 0

    def message(self, content: Members) -> Message:
        """One turn."""
        role = content.text("role")
        blocks: list[Block] = []
        place = content.place_of("parts")
        for index, raw in enumerate(content.items("parts") or ()):
            part = content.child(raw, f"{place}[{index}]")
            blocks += self._part(raw, part, blocks)
        extra = content.rest()
        name = "assistant" if role == "model" else "user"
        return Message(role=name, blocks=blocks, place=content.place, extra=extra)  # type: ignore[arg-type]

    def _part(self, raw: Raw, part: Members, before: list[Block]) -> Iterator[Block]:
        """The blocks of a part: its signature stands before what it signs."""
        signature = part.text(field(part, "thoughtSignature"))
        thought = part.boolean("thought") or False
        if thought:
            own = None if signature is None else Signature(NAME, THOUGHT + signature)
            text = part.text("text") or ""
            yield Reasoning(text=text, signature=own, place=part.place, extra=part.rest())
            return
        if signature is not None:
            signed = read_signature(signature)
            last = before[-1] if before else None
            if isinstance(last, Reasoning) and last.signature is None:
                last.signature = signed
            else:
                yield Reasoning(signature=signed, place=part.place)
            if part.is_text("text") and part.peek("text") == b'""':
                return  # only there to carry the signature
        block = self._block(raw, part)
        block.place = part.place
        if not isinstance(block, Foreign):
            block.extra = {**block.extra, **part.rest()}
        yield block

    def _block(self, raw: Raw, part: Members) -> Block:
        if (text := part.text("text")) is not None:
            return Text(text=text)
        if (blob := part.members(field(part, "inlineData"))) is not None:
            return _inline(blob)
        if (file := part.members(field(part, "fileData"))) is not None:
            return _file(file)
        if (call := part.members(field(part, "functionCall"))) is not None:
            return self._call(call)
        if (response := part.members(field(part, "functionResponse"))) is not None:
            return self._result(response)
        kind = next(
            (name for name in ("executableCode", "codeExecutionResult") if name in part), ""
        )
        return Foreign(language=NAME, kind=kind or "part", raw=raw)

    def _call(self, call: Members) -> ToolCall:
        name = call.text("name") or ""
        self._calls += 1
        call_id = call.text("id") or f"call_{self._calls}"
        self._waiting.append((name, call_id))
        arguments = bytes(call.raw("args") or b"").decode()
        call.rest()
        return ToolCall(id=call_id, name=name, arguments=arguments)

    def _result(self, response: Members) -> ToolResult:
        name, call_id = response.text("name") or "", response.text("id")
        waiting = [each for each in self._waiting if each[1] == call_id or call_id is None]
        answered = next((each for each in waiting if each[0] == name), None)
        answered = answered or (waiting[0] if waiting else None)
        if answered is not None:
            self._waiting.remove(answered)
            call_id = answered[1]
        raw = response.raw("response") or Raw(b"{}")
        text, is_error = _result_text(raw)
        content: list[Block] = [Text(text=text, place=response.place)]
        for part in response.objects("parts"):
            blob = part.members(field(part, "inlineData"))
            if blob is not None:
                content.append(_inline(blob))
            part.rest()
        response.rest()
        return ToolResult(
            id=call_id or name,
            name=name,
            content=content,
            is_error=is_error,
            extra={"response": raw},
        )


def _result_text(raw: Raw) -> tuple[str, bool]:
    """The text of a tool's result, and whether it is an error: what the only member `result`,
    `output` or `error` holds, else the JSON of it all."""
    members = Members(raw)
    for name in ("result", "output", "error"):
        if members.is_text(name):
            text = members.text(name) or ""
            if not members.rest():
                return text, name == "error"
            break
    return bytes(raw).decode(), False


def _inline(blob: Members) -> Media:
    media_type = blob.text(field(blob, "mimeType")) or ""
    source = Inline(media_type, blob.text("data") or "")
    name = blob.text(field(blob, "displayName")) or ""
    blob.rest()
    return Media(kind=_kind(media_type), source=source, name=name)


def _file(file: Members) -> Media:
    media_type = file.text(field(file, "mimeType")) or ""
    uri = file.text(field(file, "fileUri")) or ""
    source: Source = Link(uri, media_type)
    if uri.startswith(_UPLOADED):
        source = UploadedFile(uri, NAME, media_type)
    file.rest()
    return Media(kind=_kind(media_type), source=source)


def _kind(media_type: str) -> MediaKind:
    return _KINDS.get(media_type.partition("/")[0], "document")
