"""Counts the tokens of a request by the tokenizer of its model (`models.x.tokenizer`).

A chat is counted as a server of open models writes its prompt: the texts of its turns, the
declarations of its tools, and for the marks of the chat template MARKS for each turn and START for
the beginning of the answer. A template's own sentences are not counted.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.exchange.exchange import Exchange
from engine.metering.estimate import file_tokens
from engine.metering.tokenizer import MAX_TEXT, Tokenizer
from engine.translations.neutral.refusals import UNREADABLE
from engine.upstream.conditions.chat_request import language_of_request, read_chat
from engine.upstream.prompt_parts import prompt_parts
from engine.upstream.prompt_text import prompt_values
from engine.values.errors import GatewayError

MARKS = 5
"""Tokens of a chat template for each turn: its beginning, role, line ends and end."""

START = 3
"""Tokens of a chat template behind the last turn."""

CountTokens = Callable[[Exchange], int | None]


def token_counter(tokenizer: Tokenizer) -> CountTokens:
    """A function that counts the tokens of a request whose JSON body was parsed; it returns None
    for one that cannot be read, which the upstream will refuse."""

    def count(exchange: Exchange) -> int | None:
        language = language_of_request(exchange)
        if language is None:
            return _count_plain(exchange, tokenizer)
        try:
            parts = prompt_parts(read_chat(exchange, language))
        except (*UNREADABLE, GatewayError):
            return None
        tokens = tokenizer.count(parts.texts) + sum(map(file_tokens, parts.files))
        return tokens + MARKS * parts.turns + START

    return count


def _count_plain(exchange: Exchange, tokenizer: Tokenizer) -> int:
    """The tokens of a request that is no chat, as for embeddings: of its texts, and those that are
    given as numbers."""
    texts: list[str] = []
    numbers = size = 0
    for value in prompt_values(exchange):
        if isinstance(value, str):
            texts.append(value)
            size += len(value)
        else:
            numbers += type(value) is int
        if size > MAX_TEXT:
            break
    return tokenizer.count(texts) + numbers
