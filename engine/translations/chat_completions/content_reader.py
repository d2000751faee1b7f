"""The contents of messages in chat completions requests -> blocks."""

from __future__ import annotations

from msgspec import Raw

from engine.translations.neutral.content import (
    Block,
    Foreign,
    Inline,
    Link,
    Media,
    Reasoning,
    Refusal,
    Signature,
    Source,
    Text,
    ToolCall,
    ToolResult,
    UploadedFile,
)
from engine.translations.neutral.data_url import read_data_url
from engine.translations.neutral.members import Members
from engine.translations.neutral.signatures import unseal

NAME = "chat_completions"


def read_blocks(members: Members) -> list[Block]:
    """The member `content` of a message: a string or parts."""
    place = members.place_of("content")
    if members.is_text("content"):
        return [Text(text=members.text("content") or "", place=place)]
    return [
        _read_part(raw_part, members.child(raw_part, f"{place}[{index}]"))
        for index, raw_part in enumerate(members.items("content") or ())
    ]


def read_assistant_blocks(members: Members) -> list[Block]:
    """An assistant's message: what it thought, said and called, in this order."""
    blocks: list[Block] = [*_read_reasoning(members), *read_blocks(members)]
    _forget_echoes(members, "parsed", "annotations")
    refusal = members.text("refusal")
    if refusal:
        blocks.append(Refusal(text=refusal, place=members.place_of("refusal")))
    return [*blocks, *map(_read_call, members.objects("tool_calls"))]


def read_result(members: Members) -> ToolResult:
    """A message with the role `tool`."""
    call = members.text("tool_call_id")
    if call is None:
        raise members.wrong("tool_call_id", "the id of a tool call")
    return ToolResult(id=call, content=read_blocks(members), place=members.place)


def _read_part(raw: Raw, part: Members) -> Block:
    kind = part.text("type") or ""
    read = _PARTS.get(kind)
    if read is None:
        return Foreign(language=NAME, kind=kind, raw=raw, place=part.place)
    block = read(part)
    block.place, block.extra = part.place, part.rest()
    return block


def _read_text(part: Members) -> Block:
    return Text(text=part.text("text") or "")


def _read_refusal(part: Members) -> Block:
    return Refusal(text=part.text("refusal") or "")


def _read_image(part: Members) -> Block:
    image = _inner(part, "image_url")
    url = image.text("url") or ""
    source = _read_url(url, image.place_of("url"))
    block = Media(kind="image", source=source, detail=image.text("detail") or "")
    image.rest()
    return block


def _read_audio(part: Members) -> Block:
    audio = _inner(part, "input_audio")
    media_type = f"audio/{audio.text('format') or 'wav'}"
    block = Media(kind="audio", source=Inline(media_type, audio.text("data") or ""))
    audio.rest()
    return block


def _read_file(part: Members) -> Block:
    file = _inner(part, "file")
    data, name = file.text("file_data"), file.text("filename") or ""
    if data is not None:
        block = Media(
            kind="document", source=_read_url(data, file.place_of("file_data")), name=name
        )
    else:
        source = UploadedFile(file.text("file_id") or "", NAME)
        block = Media(kind="document", source=source, name=name)
    file.rest()
    return block


_PARTS = {
    "text": _read_text,
    "refusal": _read_refusal,
    "image_url": _read_image,
    "input_audio": _read_audio,
    "file": _read_file,
}


def _inner(part: Members, name: str) -> Members:
    inner = part.members(name)
    if inner is None:
        raise part.wrong(name, "an object")
    return inner


def _read_url(url: str, place: str) -> Source:
    """The content of a `data:` URL, or a link."""
    return read_data_url(url, place) if url[:5].lower() == "data:" else Link(url)


def _read_call(call: Members) -> Block:
    kind = call.text("type") or "function"
    function = call.members("function")
    if kind != "function" or function is None:
        raise call.wrong("type", "function")
    block = ToolCall(
        id=call.text("id") or "",
        name=function.text("name") or "",
        arguments=function.text("arguments") or "",
        place=call.place,
    )
    _forget_echoes(call, "index")  # SDKs send back what they read, with what they made of it
    _forget_echoes(function, "parsed_arguments")
    block.extra = {**function.rest(), **call.rest()}
    return block


def _forget_echoes(members: Members, *names: str) -> None:
    for name in names:
        members.raw(name)


def _read_reasoning(members: Members) -> list[Block]:
    """Thoughts that the caller sends back: `reasoning_details` with signatures, or the text alone.

    The members are those that DeepSeek (`reasoning_content`) and OpenRouter (`reasoning`,
    `reasoning_details`) have added to the language.
    """
    place = members.place_of("reasoning_details")
    blocks: list[Block] = []
    for detail in members.objects("reasoning_details"):
        text = detail.text("text") or detail.text("summary") or ""
        sealed = detail.text("signature") or detail.text("data")
        signature = None if sealed is None else unseal(sealed, NAME)
        blocks.append(Reasoning(text=text, signature=signature, place=detail.place))
    for name in ("reasoning_content", "reasoning"):
        text = members.text(name) or ""
        if text and not blocks:
            place = members.place_of(name)
            blocks.append(Reasoning(text=text, signature=Signature(NAME, name), place=place))
    return blocks
