"""The items of responses requests -> messages."""

from __future__ import annotations

from msgspec import Raw

from engine.translations.neutral.content import (
    Block,
    Citation,
    Foreign,
    Link,
    Media,
    Reasoning,
    Refusal,
    Source,
    Text,
    ToolCall,
    ToolResult,
    UploadedFile,
)
from engine.translations.neutral.data_url import read_data_url
from engine.translations.neutral.members import Members
from engine.translations.neutral.request import Message, Role
from engine.translations.neutral.signatures import unseal

NAME = "responses"

_ROLES: dict[str, Role] = {"system": "system", "developer": "system", "assistant": "assistant"}


def read_item(raw: Raw, item: Members) -> Message:
    """A message of one item. Raises WrongType."""
    kind = item.text("type") or "message"
    if kind == "message":
        return _message(item)
    if kind == "function_call":
        return Message(role="assistant", blocks=[_call(item)], place=item.place)
    if kind == "function_call_output":
        return Message(role="user", blocks=[_result(item)], place=item.place)
    if kind == "reasoning":
        return Message(role="assistant", blocks=[_reasoning(item)], place=item.place)
    block = Foreign(language=NAME, kind=kind, raw=raw, place=item.place)
    role: Role = "user" if kind.endswith("_output") else "assistant"
    return Message(role=role, blocks=[block], place=item.place)


def _message(item: Members) -> Message:
    role = _ROLES.get(item.text("role") or "", "user")
    blocks = _content(item, "content")
    for name in ("id", "status", "phase"):  # the vendor's own marks on an earlier answer
        item.raw(name)
    return Message(role=role, blocks=blocks, place=item.place, extra=item.rest())


def _content(item: Members, name: str) -> list[Block]:
    place = item.place_of(name)
    if item.is_text(name):
        return [Text(text=item.text(name) or "", place=place)]
    return [
        _part(raw, item.child(raw, f"{place}[{index}]"))
        for index, raw in enumerate(item.items(name) or ())
    ]


def _part(raw: Raw, part: Members) -> Block:
    kind = part.text("type") or ""
    if kind in ("input_text", "output_text", "text", "summary_text"):
        part.raw("logprobs")
        block: Block = Text(text=part.text("text") or "", citations=read_citations(part))
    elif kind == "refusal":
        block = Refusal(text=part.text("refusal") or "")
    elif kind == "input_image":
        block = Media(
            kind="image", source=_source(part, "image_url"), detail=part.text("detail") or ""
        )
    elif kind == "input_file":
        name = "file_url" if "file_url" in part else "file_data"
        source = _source(part, name)
        block = Media(kind="document", source=source, name=part.text("filename") or "")
    else:
        return Foreign(language=NAME, kind=kind, raw=raw, place=part.place)
    block.place, block.extra = part.place, part.rest()
    return block


def _source(part: Members, name: str) -> Source:
    url = part.text(name)
    if url is None:
        return UploadedFile(part.text("file_id") or "", NAME)
    part.raw("file_id")
    return read_data_url(url, part.place_of(name)) if url[:5].lower() == "data:" else Link(url)


def read_citations(part: Members) -> list[Citation]:
    """The sources in the annotations of a text."""
    return [
        read_citation(annotation)
        for annotation in part.objects("annotations")
        if annotation.text("type") == "url_citation"
    ]


def read_citation(annotation: Members) -> Citation:
    """The source in an annotation."""
    return Citation(
        url=annotation.text("url") or "",
        title=annotation.text("title") or "",
        start=annotation.integer("start_index"),
        end=annotation.integer("end_index"),
    )


def _call(item: Members) -> ToolCall:
    block = ToolCall(
        id=item.text("call_id") or "",
        name=item.text("name") or "",
        arguments=item.text("arguments") or "",
        place=item.place,
    )
    _forget(item, "id", "status", "parsed_arguments")
    block.extra = item.rest()
    return block


def _result(item: Members) -> ToolResult:
    block = ToolResult(
        id=item.text("call_id") or "", content=_content(item, "output"), place=item.place
    )
    _forget(item, "id", "status")
    block.extra = item.rest()
    return block


def _reasoning(item: Members) -> Reasoning:
    texts = [each.text("text") or "" for each in item.objects("summary")]
    texts = texts or [each.text("text") or "" for each in item.objects("content")]
    sealed = item.text("encrypted_content")
    block = Reasoning(
        text="\n\n".join(texts),
        signature=None if sealed is None else unseal(sealed, NAME),
        id=item.text("id") or "",
        place=item.place,
    )
    _forget(item, "status", "content")
    block.extra = item.rest()
    return block


def _forget(item: Members, *names: str) -> None:
    for name in names:
        item.raw(name)
