"""What conditions ask of a request and is found by reading all of it: each is found once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.exchange.exchange import Exchange
from engine.metering.estimate import estimate
from engine.translations.neutral.content import Block, Media, ToolResult
from engine.translations.neutral.refusals import UNREADABLE
from engine.upstream.conditions.chat_request import language_of_request, read_chat
from engine.values.errors import GatewayError
from engine.values.usage import Takes

MEDIA = ("image", "audio", "video", "file")
"""The kinds of media that a request may contain."""

_INPUT = Takes()
_KINDS = {"document": "file"}
"""The kinds of media of chats that have another name here."""


class RequestFacts:
    """The facts of one request."""

    __slots__ = ("_media", "_tokens", "exchange")

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self._tokens: int | None = None
        self._media: frozenset[str] | None = None

    @property
    def tokens(self) -> int:
        """The tokens of the request: the count of the model's tokenizer, or an estimate."""
        if self._tokens is None:
            self._tokens = estimate(self.exchange, _INPUT).input
        return self._tokens

    @property
    def media(self) -> frozenset[str]:
        """The kinds of media in the request, of MEDIA. A chat that cannot be read has none: it will
        be refused."""
        if self._media is None:
            self._media = frozenset(_media_of(self.exchange))
        return self._media


def _media_of(exchange: Exchange) -> Iterable[str]:
    if exchange.content.parts:
        return [
            _kind_of_file(part.content_type or "")
            for part in exchange.content.parts
            if part.filename is not None
        ]
    language = language_of_request(exchange)
    if language is None:
        return ()
    try:
        chat = read_chat(exchange, language)
    except (*UNREADABLE, GatewayError):
        return ()
    return [kind for message in chat.messages for kind in _kinds(message.blocks)]


def _kinds(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, ToolResult):
            yield from _kinds(block.content)
        elif isinstance(block, Media):
            yield _KINDS.get(block.kind, block.kind)


def _kind_of_file(content_type: str) -> str:
    """The kind of a file of a form."""
    kind = content_type.partition("/")[0].strip().lower()
    return kind if kind in MEDIA else "file"
