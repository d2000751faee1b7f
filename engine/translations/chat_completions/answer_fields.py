"""What answers and streams of chat completions have in common: usage, reasons to stop, images,
sources and thoughts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Raw

from engine.translations.chat_completions.answer_shapes import ANNOTATIONS, Image, Message, TextPart
from engine.translations.neutral.content import Citation, Json, Link, Media, Reasoning, Signature
from engine.translations.neutral.events import Cite, Finish, Stop
from engine.translations.neutral.members import Members, WrongType, value_of
from engine.translations.neutral.signatures import seal, unseal
from engine.translations.openai_answer_fields import read_citation
from engine.translations.openai_request_fields import read_data_url
from engine.values.usage import Usage

NAME = "chat_completions"
PREFIX = "chatcmpl-"
REASONING_MEMBERS = ("reasoning_content", "reasoning")
"""Members with the text of thoughts that vendors have added: DeepSeek and others the first,
OpenRouter and others the second."""

STOPS: dict[str, Stop] = {
    "stop": "end",
    "length": "length",
    "model_length": "length",  # Mistral
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "filter",
}
_REASONS: dict[Stop, str] = {
    "end": "stop",
    "stop_sequence": "stop",
    "pause": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "filter": "content_filter",
}


def write_counts(usage: Usage) -> Json:
    """`usage`."""
    details = {"cached_tokens": usage.cached}
    if usage.cache_write:
        details["cache_write_tokens"] = usage.cache_write
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": details,
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def write_finish(finish: Finish) -> Json:
    """The members of a choice that say why it ended. Other vendors' words and the stop sequence
    that was met have the members that OpenRouter and vLLM have added."""
    members: Json = {"finish_reason": _REASONS[finish.stop]}
    if finish.native and finish.native not in STOPS:
        members["native_finish_reason"] = finish.native
    if finish.sequence:
        members["stop_reason"] = finish.sequence
    return members


def read_image(image: Image, place: str) -> Media:
    """An image of an answer. Raises WrongType for one without its URL."""
    where = image.image_url
    url = where if where is None or isinstance(where, str) else where.url
    if not url:
        raise WrongType(f"{place}.image_url", "an image with its URL")
    source = read_data_url(url, place) if url[:5].lower() == "data:" else Link(url)
    return Media(kind="image", source=source)


def said_otherwise(delta: Message) -> str:
    """The text of a delta without content in the member that completions have for it."""
    return delta.text if isinstance(delta.text, str) else ""


def read_thinking(thinking: list[TextPart] | str) -> str:
    """The thoughts in a part of a content."""
    if isinstance(thinking, str):
        return thinking
    return "".join(each.text or "" for each in thinking)


_OBJECT = msgspec.json.Decoder(dict[str, Any])
_SUMMARY = "reasoning.summary"


class Detail:
    """An entry of `reasoning_details`, the member that OpenRouter has added. Its vendor wants all
    of it back with the next turn, so everything but its text is its signature. In a stream it
    comes in fragments."""

    def __init__(self) -> None:
        self._members: dict[str, Raw] = {}

    def add(self, fragment: Members) -> tuple[str, int]:
        """Take a fragment. Returns its text, and how many characters of the entry are new."""
        text = fragment.text("text") or fragment.text("summary") or ""
        size = 0
        for name, raw in fragment.unread_members().items():
            if self._members.get(name) != raw:
                self._members[name] = raw
                size += len(name) + len(bytes(raw))
        return text, size

    @property
    def signature(self) -> Signature:
        """The entry up to now, without its text."""
        return Signature(NAME, msgspec.json.encode(self._members).decode())


def read_detail(detail: Members) -> Reasoning:
    """The thoughts in an entry that a caller sends back: with a signature of another vendor, which
    this gateway has sealed, or of this language."""
    vendor_signature = unseal(detail.text("signature") or "", NAME) if _is_sealed(detail) else None
    entry = Detail()
    text, _ = entry.add(detail)
    return Reasoning(text=text, signature=vendor_signature or entry.signature, place=detail.place)


def _is_sealed(detail: Members) -> bool:
    if not detail.is_text("signature"):
        return False
    signature = msgspec.json.decode(detail.peek("signature"))
    return unseal(signature, NAME).language != NAME


def write_detail(index: int, text: str, signature: Signature | None) -> Json:
    """An entry with the thoughts of another language, as OpenRouter writes them."""
    entry: Json = {"type": "reasoning.text", "index": index, "text": text}
    if signature is not None:
        entry["signature"] = seal(signature, NAME)
    return entry


def write_thoughts(blocks: list[Reasoning]) -> tuple[Json, list[Reasoning]]:
    """The members of a message that has these thoughts, each in the member that it came in; and the
    thoughts that have none, since they came from another vendor."""
    texts: dict[str, list[str]] = {}
    entries: list[Json] = []
    foreign_thoughts: list[Reasoning] = []
    for block in blocks:
        name = "" if block.signature is None else block.signature.value
        if block.signature is None or block.signature.language != NAME:
            foreign_thoughts.append(block)
        elif name in REASONING_MEMBERS:
            texts.setdefault(name, []).append(block.text)
        elif (entry := _entry(name, block.text)) is not None:
            entries.append(entry)
        else:
            foreign_thoughts.append(block)
    members: Json = {name: "".join(pieces) for name, pieces in texts.items()}
    if entries:
        members["reasoning_details"] = entries
    return members, foreign_thoughts


def _entry(signature: str, text: str) -> Json | None:
    """The entry of `reasoning_details` with this signature; None for one that is not such an entry,
    which callers can make up."""
    entry = value_of(_OBJECT, signature)
    if entry is not None and text:
        entry["summary" if entry.get("type") == _SUMMARY else "text"] = text
    return entry


def read_annotations(annotations: Raw) -> list[Citation]:
    """The sources in a member of an answer; none in one of another form."""
    if bytes(annotations)[:1] != b"[":
        return []
    shapes = ANNOTATIONS.read(annotations, "annotations") or ()
    pages = [each.url_citation for each in shapes if each is not None]
    return [read_citation(page) for page in pages if page is not None]


def citations_in(citations: Iterable[Citation], block_start: int, candidate: int) -> Iterator[Cite]:
    """What the open block of text cites, which begins at `block_start` of all text. The vendor
    counts from the beginning of all; a span that begins in an earlier block is told without its
    place."""
    for citation in citations:
        start, end = citation.start, citation.end
        inside = start is not None and end is not None and start >= block_start
        citation.start = start - block_start if inside and start is not None else None
        citation.end = end - block_start if inside and end is not None else None
        yield Cite(citation, candidate)
