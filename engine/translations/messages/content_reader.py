"""The content of messages -> neutral blocks, and the signatures that are sealed for other vendors
in a request that is relayed as it came.

The vendor refuses thoughts with a signature that it has not made, and citations of searches without
an index of its own. Thoughts on a budget are accepted in the middle of a round of tool calls only
if the turn that called begins with its thoughts.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from engine.translations.messages import request_shapes as shapes
from engine.translations.messages.answer_fields import CitationShape, read_signature
from engine.translations.neutral import content as neutral
from engine.translations.neutral.json_members import Members, WrongType, read_shape
from engine.translations.neutral.request_json import UnknownObject, content_reader, present
from engine.translations.vendors.other_parts import read_other_part
from engine.values.json_spans import JsonPath
from engine.values.trees import Json

_SEARCHES = ("server_tool_use", "web_search_tool_result")
_CITATIONS = msgspec.json.Decoder(list[CitationShape] | None)


def read_texts(
    content: str | list[shapes.TextBlock | UnknownObject] | None, place: str
) -> list[neutral.Text]:
    """A content that is text alone, none of an empty one."""
    texts = []
    for block in read_content(content or None, place, []):
        if not isinstance(block, neutral.Text):
            raise WrongType(f"{block.place}.type", "text")
        texts.append(block)
    return texts


def _foreign(
    block: UnknownObject | shapes.ImageBlock | shapes.DocumentBlock, kind: str
) -> neutral.Foreign:
    cache, omissible = neutral.read_cache_mark(block.extra), kind in _SEARCHES
    return neutral.Foreign(kind=kind, raw=block.raw, cache=cache, omissible=omissible)


def _read_unknown(unknown: UnknownObject, place: str, unread: list[str]) -> neutral.Block:
    if unknown.kind is None:
        raise WrongType(f"{place}.type", "the type of a block")
    block = read_other_part(unknown, place, unread)
    if not isinstance(block, neutral.Foreign):
        return block
    block = _foreign(unknown, unknown.kind)
    if unknown.kind == "compaction":
        summary = Members(unknown.raw, place).text("content")
        block.omissible = not summary  # the vendor could write none, and goes on without it
        text = neutral.Text(text=summary or "", place=place, cache=block.cache)
        block.substitute = text if summary else None
    return block


def _read_text(block: shapes.TextBlock, place: str, unread: list[str]) -> neutral.Text:
    if (citations := present(block.citations)) is not None:
        read_shape(_CITATIONS, citations, f"{place}.citations")  # no other vendor wants them back
    return neutral.Text(text=block.text)


def _read_image(block: shapes.ImageBlock, place: str, unread: list[str]) -> neutral.Block:
    if (source := _read_source(block.source, place)) is None:
        return _foreign(block, "image")
    return neutral.Media(kind="image", source=source)


def _read_document(block: shapes.DocumentBlock, place: str, unread: list[str]) -> neutral.Block:
    if (source := _read_source(block.source, place)) is None:
        return _foreign(block, "document")
    if isinstance(source, neutral.Link):
        source = neutral.Link(source.url, "application/pdf")
    citations = present(block.citations)
    if citations is not None and bytes(citations).replace(b" ", b"") != b'{"enabled":false}':
        unread.append(f"{place}.citations")
    name = block.title or ""
    where = f"{place}.title" if name else ""
    return neutral.Media(kind="document", source=source, name=name, name_place=where)


def _read_source(source: shapes.SourceObject, place: str) -> neutral.Source | None:
    """Where the image or the document at `place` is; None for a kind that only this vendor has."""
    data, url, media_type = source.data, source.url, source.media_type or ""
    if source.extra:
        return None
    if source.type == "base64" and data is not None:
        return neutral.inline(media_type.lower(), data)
    if source.type == "text" and data is not None:
        return neutral.PlainText(data)
    if source.type == "url" and url is not None:
        return neutral.at_url(url, media_type.lower())
    if source.type == "file" and source.file_id is not None:
        return neutral.UploadedFile()
    if source.raw:
        return None
    raise WrongType(f"{place}.source", "a source with its data, url or file_id")


def _read_call(block: shapes.CallBlock, place: str, unread: list[str]) -> neutral.Block:
    return neutral.ToolCall(
        id=block.id or "",
        name=block.name or "",
        arguments=read_arguments(block.input, f"{place}.input"),
    )


def read_arguments(raw: Raw, place: str) -> str:
    """The arguments, empty for an object without members. Raises WrongType."""
    if present(raw) is None:
        return ""
    text = bytes(raw)
    if text[:1] != b"{":
        raise WrongType(place, "an object")
    return "" if text == b"{}" else text.decode()


def _read_result(block: shapes.ResultBlock, place: str, unread: list[str]) -> neutral.Block:
    return neutral.ToolResult(
        id=block.tool_use_id or "",
        content=read_content(block.content, f"{place}.content", unread),
        is_error=block.is_error or False,
    )


read_content = content_reader(
    {
        shapes.TextBlock: _read_text,
        shapes.ImageBlock: _read_image,
        shapes.DocumentBlock: _read_document,
        shapes.ThinkingBlock: lambda block, place, unread: neutral.Reasoning(
            text=block.thinking or "", signature=read_signature(block.signature or "")
        ),
        shapes.RedactedBlock: lambda block, place, unread: neutral.Reasoning(
            signature=read_signature(block.data or "", redacted=True)
        ),
        shapes.CallBlock: _read_call,
        shapes.ResultBlock: _read_result,
        UnknownObject: _read_unknown,
    }
)


_SIGNATURES = {"thinking": "signature", "redacted_thinking": "data"}


def without_seals(request: Any) -> neutral.Changes:
    """Thoughts and citations of other vendors are removed, and the wish to think where it cannot be
    granted without them."""
    changes: dict[JsonPath, bytes | None] = {}
    turns = neutral.objects(request, "messages")
    for index, message in turns:
        blocks = neutral.objects(message, "content")
        seal_places = [at for at, block in blocks if _is_sealed(block)]
        if seal_places and len(seal_places) == len(message["content"]):
            changes["messages", index] = None
        else:
            changes.update({("messages", index, "content", at): None for at in seal_places})
        for at, block in blocks:
            place: JsonPath = ("messages", index, "content", at)
            citations = neutral.without_objects(
                block,
                "citations",
                place,
                lambda each: neutral.is_sealed(each.get("encrypted_index")),
            )
            changes.update(citations)
    if len(turns) > 1 and _calls_without_thoughts(turns[-2], turns[-1], changes):
        thinking = request.get("thinking")
        if isinstance(thinking, dict) and thinking.get("type") == "enabled":
            changes["thinking",] = None
            changes["context_management",] = None  # it may clear thoughts, which needs them on
    return changes


def _is_sealed(block: Json) -> bool:
    member = _SIGNATURES.get(str(block.get("type")))
    return member is not None and neutral.is_sealed(block.get(member))


def _calls_without_thoughts(
    turn: tuple[int, Json], last: tuple[int, Json], changes: neutral.Changes
) -> bool:
    """Whether the last turn has the results of calls whose thoughts are removed."""
    index, message = turn
    results = any(
        block.get("type") == "tool_result" for _, block in neutral.objects(last[1], "content")
    )
    return results and any(
        ("messages", index, "content", at) in changes
        for at, _ in neutral.objects(message, "content")
    )
