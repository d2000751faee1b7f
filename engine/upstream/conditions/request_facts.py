"""What conditions ask of a request and is found by reading all of it: each is found once. A chat of
any format is read as the neutral value of `translations`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import orjson

from engine import translations
from engine.exchange.exchange import Exchange
from engine.metering.estimate import estimate
from engine.translations.neutral.content import Block, Media, ToolResult
from engine.translations.neutral.language import Language, RequestLine
from engine.translations.neutral.refusals import UNREADABLE, check_objects, check_text
from engine.translations.neutral.request import ChatRequest
from engine.values.errors import GatewayError
from engine.values.usage import Takes

MEDIA = ("image", "audio", "video", "file")
"""The kinds of media that a request may contain."""

_INPUT = Takes()
_KINDS = {"document": "file"}
"""The kinds of media of chats that have another name here."""
_WRAPPED = "generateContentRequest"
"""In a request of Gemini's countTokens: the member that has the whole request."""


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


def language_of_request(exchange: Exchange) -> Language | None:
    """The language of the chat that a request is, or whose tokens it asks for; None for any other
    request."""
    dialect, path = exchange.dialect.name, exchange.path
    language = translations.language_of(dialect, path)
    if isinstance(language, Language):
        return language
    return translations.counted_language(dialect, path)


def read_chat(exchange: Exchange, language: Language) -> ChatRequest:
    """The chat of a request whose JSON body was parsed. Raises an exception of UNREADABLE, and
    GatewayError."""
    body, value = bytes(exchange.body.buffer), exchange.content.value
    if isinstance(value, dict) and isinstance(value.get(_WRAPPED), dict):
        body = orjson.dumps(value[_WRAPPED])
    check_objects(body)
    return language.read_request(check_text(body), RequestLine())
