"""Chats of 1 KB in every language, and the answers of their vendors, no two alike.

The requests are one conversation with tools, as the engine writes it in each language. The answers
are those of `tests/cases/translations/<language>/upstream/`, the bytes of the vendors, with other
words: the event with the first word of a stream is repeated with many.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import orjson

from benchmarks.chat import CHAT
from engine import translations
from engine.translations.neutral.language import Language, RequestLine
from engine.translations.neutral.refusals import LossRules
from engine.translations.translation import Translation
from tests.support.translations import CASES

VARIANTS = 61
"""Requests and answers of each language, a number that no count of connections divides."""

LANGUAGES: tuple[Language, ...] = translations.languages()
CROSSINGS = [(a, b) for a in LANGUAGES for b in LANGUAGES if a is not b]

_WORDS = (
    *("", "the", "of", "snow", "Oslo", "and", "winter's", "bright", "cold,", "\\n"),
    *("morning", "under", "fjord", "then", "quiet"),
)
_RARE_WORDS, _RARE = ("—", "été", "日本"), 0.03
"""Words with characters outside ASCII, and their share."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request in a language, its path below the base path (`/chat/completions`) included."""

    body: bytes
    path: str
    query: str = ""


def words(seed: int, count: int) -> Iterator[str]:
    """The tokens of an answer as JSON writes them, the same for the same seed."""
    dice = random.Random(seed)
    for _ in range(count):
        word = dice.choice(_RARE_WORDS if dice.random() < _RARE else _WORDS)
        yield f" {word}{dice.randrange(10) or ''}"


@cache
def requests(language: Language, model: str, *, stream: bool) -> tuple[Request, ...]:
    """The requests of callers for a model."""
    return tuple(_request(language, model, stream, seed) for seed in range(VARIANTS))


def _request(language: Language, model: str, stream: bool, seed: int) -> Request:
    question = "And tomorrow? Say it in verse." + "".join(words(seed, seed % 17)).replace("\\n", "")
    chat = {**CHAT, "model": model, "stream": stream}
    chat["messages"] = [*CHAT["messages"][:-1], {"role": "user", "content": question}]
    if not stream:
        del chat["stream_options"]
    body = orjson.dumps(chat)
    source = translations.language("chat_completions")
    if language is source:
        return Request(body, language.path_suffix)
    exchange = Translation(source, language).request(body, RequestLine(), model, LossRules())
    return Request(
        exchange.target_request.body, exchange.target_request.path, exchange.target_request.query
    )


@cache
def answers(language: Language) -> tuple[bytes, ...]:
    """Answers in one piece, of about 600 bytes of text."""
    text = (CASES / language.name / "upstream" / "text.json").read_bytes()
    return tuple(
        text.replace(b"Hello there.", "".join(words(seed, 60 + seed)).encode())
        for seed in range(VARIANTS)
    )


@dataclass(frozen=True, slots=True)
class Stream:
    """The server-sent events of a streamed answer: `pieces` have one token each."""

    head: bytes
    pieces: tuple[bytes, ...]
    tail: bytes


@cache
def stream(language: Language, count: int, seed: int = 0) -> Stream:
    """A streamed answer of `count` tokens."""
    text = (CASES / language.name / "upstream" / "text.sse").read_bytes()
    events = [event + b"\n\n" for event in text.split(b"\n\n") if event]
    at = next(index for index, event in enumerate(events) if b'"Hello"' in event)
    pieces = tuple(
        events[at].replace(b'"Hello"', b'"%s"' % word.encode()) for word in words(seed, count)
    )
    return Stream(b"".join(events[:at]), pieces, b"".join(events[at + 1 :]))


def data_of(events: bytes) -> list[bytes]:
    """The data of clean events."""
    return [line[6:] for line in events.split(b"\n") if line.startswith(b"data: ")]
