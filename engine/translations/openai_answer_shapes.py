"""The shapes that answers in OpenAI's two languages have in common."""

from __future__ import annotations

from msgspec import Struct


class InputDetails(Struct):
    """What the tokens of the input were."""

    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class OutputDetails(Struct):
    """What the tokens of the output were."""

    reasoning_tokens: int | None = None


class TopToken(Struct):
    """A token with its log probability."""

    token: str | None = None
    logprob: float | None = None


class Token(TopToken):
    """A token of an answer, with the most likely ones at its place."""

    top_logprobs: list[TopToken] | None = None


class UrlCitation(Struct):
    """The source of a span of text."""

    url: str | None = None
    title: str | None = None
    start_index: int | None = None
    end_index: int | None = None
