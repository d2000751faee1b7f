"""Parts of a content in the words of another format than the request's. Programs that changed the
format of their requests often kept the parts: OpenAI's two APIs name a text and an image
differently, Anthropic's has the bytes of an image in a `source`, and vLLM and Qwen have added
videos and sounds by URL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from engine.translations.neutral import content as neutral
from engine.translations.neutral.json_members import Members
from engine.translations.neutral.request_json import UnknownObject
from engine.translations.vendors.openai_content import read_file_data, read_url, required

_Kind = Literal["image", "audio", "video", "document"]


def read_other_part(
    part: UnknownObject, place: str, unread: list[str], prefix: str = ""
) -> neutral.Block:
    """The content of a part that its language does not declare. If no other language does either,
    a block of its kind, behind a `prefix`. Raises WrongType."""
    kind = part.kind or ""
    members = Members(part.extra.copy(), place, unread)
    members.raw("type")
    block = _READERS[kind](members) if kind in _READERS else None
    if block is None:
        return neutral.Foreign(kind=prefix + kind)
    if members.peek("citations").replace(b" ", b"") == b'{"enabled":false}':
        members.raw("citations")
    members.rest()
    return block


def _text(part: Members) -> neutral.Block:
    part.raw("annotations")  # the vendor's own, as log probabilities are
    part.raw("logprobs")
    return neutral.Text(text=part.text("text") or "")


def _refusal(part: Members) -> neutral.Block:
    return neutral.Refusal(text=part.text("refusal") or "")


def _at_url(kind: _Kind, name: str) -> Callable[[Members], neutral.Block]:
    """What reads a part whose member `name` is a URL, or an object with one."""

    def read(part: Members) -> neutral.Block:
        detail = part.text("detail")
        if name not in part and "file_id" in part:
            part.raw("file_id")
            return neutral.Media(kind=kind, source=neutral.UploadedFile(), detail=detail or "")
        holder = None if part.is_text(name) else part.members(name)
        if holder is None:
            place, url = part.place_of(name), part.text(name)
        else:
            place, url = holder.place_of("url"), holder.text("url")
            detail = holder.text("detail") or detail
            holder.rest()
        source = read_url(required(url, place), place)
        return neutral.Media(kind=kind, source=source, detail=detail or "")

    return read


def _file(part: Members) -> neutral.Block:
    """A document with its content, at its URL, or by the id of an uploaded file."""
    holder = part.members("file") or part
    name, place = holder.text("filename") or "", holder.place_of
    source: neutral.Source
    if "file_data" in holder:
        data = holder.text("file_data") or ""
        source = read_file_data(data, name, place("file_data"))
    elif "file_url" in holder:
        source = read_url(required(holder.text("file_url"), place("file_url")), place("file_url"))
    else:
        required(holder.text("file_id"), place("file_id"))
        source = neutral.UploadedFile()
    if holder is not part:
        holder.rest()
    return neutral.Media(kind="document", source=source, name=name)


def _sound(part: Members) -> neutral.Block:
    if (sound := part.members("input_audio")) is None:
        raise part.wrong("input_audio", "an object with `data` and `format`")
    form = required(sound.text("format"), sound.place_of("format"))
    data = required(sound.text("data"), sound.place_of("data"))
    sound.rest()
    return neutral.Media(kind="audio", source=neutral.inline(f"audio/{form}", data))


def _with_source(kind: _Kind) -> Callable[[Members], neutral.Block | None]:
    """What reads an image or a document of Anthropic's callers; one whose source only this vendor
    has is none."""

    def read(part: Members) -> neutral.Block | None:
        source = Members(part.raw("source") or b"{}", part.place_of("source"))
        form, media_type = source.text("type") or "", source.text("media_type") or ""
        name, make = _SOURCES.get(form, ("", None))
        value = source.text(name)
        if make is None or value is None or source.copy():
            return None
        if form == "url" and kind == "document":
            media_type = "application/pdf"
        title = part.text("title") or ""
        place = part.place_of("title") if title else ""
        media = neutral.Media(kind=kind, source=make(value, media_type.lower()))
        media.name, media.name_place = title, place
        return media

    return read


def _search_result(part: Members) -> neutral.Block:
    """What a search of the caller's found (Anthropic), as a text."""
    found = "\n".join(each.text("text") or "" for each in part.objects("content"))
    return neutral.Text(text=f"{part.text('title') or ''}\n{part.text('source') or ''}\n{found}")


_SOURCES: dict[str, tuple[str, Callable[[str, str], neutral.Source]]] = {
    "base64": ("data", lambda data, media_type: neutral.inline(media_type, data)),
    "text": ("data", lambda data, media_type: neutral.PlainText(data)),
    "url": ("url", neutral.at_url),
    "file": ("file_id", lambda file_id, media_type: neutral.UploadedFile()),
}
"""By their type, the member that says where a content is, and what it and the media type make."""

_READERS: dict[str, Callable[[Members], neutral.Block | None]] = {
    **dict.fromkeys(("text", "input_text", "output_text", "summary_text"), _text),
    "refusal": _refusal,
    "image_url": _at_url("image", "image_url"),
    "input_image": _at_url("image", "image_url"),
    "video_url": _at_url("video", "video_url"),
    "audio_url": _at_url("audio", "audio_url"),
    "input_audio": _sound,
    **dict.fromkeys(("file", "input_file"), _file),
    "image": _with_source("image"),
    "document": _with_source("document"),
    "search_result": _search_result,
}
