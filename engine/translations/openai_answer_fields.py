"""What answers in OpenAI's two languages have in common: their shapes, log probabilities, citations
of web pages and errors."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from engine.translations.neutral.content import Citation, Json
from engine.translations.neutral.events import TokenLogprob, UpstreamError
from engine.translations.refusals import AnswerErrors, error_of


class TopToken(Struct):
    token: str | None = None
    logprob: float | None = None


class Token(TopToken):
    """A token of an answer, with the most likely ones at its place."""

    top_logprobs: list[TopToken] | None = None


class UrlCitation(Struct):
    url: str | None = None
    title: str | None = None
    start_index: int | None = None
    end_index: int | None = None


def read_logprobs(tokens: list[Token] | None) -> list[TokenLogprob]:
    """The log probabilities in a list."""
    return [
        TokenLogprob(*_read_token(each), [*map(_read_token, each.top_logprobs or ())])
        for each in tokens or ()
    ]


def _read_token(token: TopToken) -> tuple[str, float]:
    return token.token or "", token.logprob or 0.0


def write_logprobs(logprobs: list[TokenLogprob]) -> list[Json]:
    """Log probabilities in the form of both languages."""
    return [
        {**_token(o.token, o.logprob), "top_logprobs": [_token(*top) for top in o.top]}
        for o in logprobs
    ]


def _token(token: str, logprob: float) -> Json:
    return {"token": token, "logprob": logprob, "bytes": list(token.encode())}


def read_citation(page: UrlCitation) -> Citation:
    """The source in a `url_citation`."""
    return Citation(page.url or "", page.title or "", "", page.start_index, page.end_index)


def write_citation(citation: Citation, offset: int, length: int) -> Json:
    """The members of a `url_citation` in a text that begins at `offset` and has `length`
    characters."""
    start, end = citation.span(length)
    return {
        "start_index": offset + start,
        "end_index": offset + end,
        "url": citation.url,
        "title": citation.title,
    }


def read_error(status: int, document: Any) -> UpstreamError:
    """The error in an error response; `document` is its JSON, None for none."""
    error = error_of(status, document, ("code", "type"))
    error.code = "" if error.code == "error" else error.code  # the type of an event
    return error


ERRORS = AnswerErrors("openai", read_error)
