"""Chats of any format as the neutral value of `translations`, for what needs all of their parts."""

from __future__ import annotations

import orjson

from engine import translations
from engine.exchange.exchange import Exchange
from engine.translations.neutral.language import Language, RequestLine
from engine.translations.neutral.refusals import check_objects, check_text
from engine.translations.neutral.request import ChatRequest

_WRAPPED = "generateContentRequest"
"""In a request of Gemini's countTokens: the member that has the whole request."""


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
