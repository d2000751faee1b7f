"""Chat completions answers -> neutral events, in a stream and in one piece."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.translations.chat_completions.choice_reader import ChoiceReader
from engine.translations.neutral.content import Citation, Link, Media
from engine.translations.neutral.data_url import read_data_url
from engine.translations.neutral.events import (
    BrokenAnswer,
    Cite,
    End,
    Event,
    Finish,
    Start,
    TokenLogprob,
    Tokens,
    UpstreamError,
    Usage,
)
from engine.translations.neutral.members import Members

_MOST_CANDIDATES = 128


def read_answer(body: bytes) -> Iterator[Event]:
    """The events of an answer in one piece. Raises WrongType, BrokenAnswer or UpstreamError."""
    reader = Reader()
    yield from reader.read_chunk(Members(body), "message")
    yield from reader.end()


class Reader:
    """Reads the chunks of a stream."""

    def __init__(self) -> None:
        self._started = self._ended = False
        self._choices: dict[int, ChoiceReader] = {}
        self._usage: Usage | None = None

    def read(self, data: bytes) -> Iterator[Event]:
        """The events of one chunk."""
        if self._ended:
            return
        if data.strip() == b"[DONE]":
            yield from self.end()
        else:
            yield from self.read_chunk(Members(data), "delta")

    def end(self) -> Iterator[Event]:
        """The last events. Raises BrokenAnswer for a stream that is not complete."""
        if self._ended:
            return
        finishes: dict[int, Finish] = {}
        for index, choice in self._choices.items():
            if choice.finish is None:
                raise BrokenAnswer("the upstream's answer ended without a finish reason")
            yield from choice.close()
            finishes[index] = choice.finish
        if not finishes:
            raise BrokenAnswer("the upstream's answer has no choices")
        self._ended = True
        yield End(finishes=finishes, usage=self._usage)

    def read_chunk(self, chunk: Members, member: str) -> Iterator[Event]:
        """The events of a chunk, or of an answer whose choices have a `message`."""
        if "error" in chunk:
            raise read_error_member(chunk)
        self._usage = read_usage(chunk.members("usage")) or self._usage
        if not self._started:
            self._started = True
            yield Start(
                id=chunk.text("id") or "",
                model=chunk.text("model") or "",
                created=chunk.integer("created") or 0,
            )
        for choice in chunk.objects("choices"):
            yield from self._read_choice(choice, member)

    def _read_choice(self, choice: Members, member: str) -> Iterator[Event]:
        index = choice.integer("index") or 0
        if index not in range(_MOST_CANDIDATES):
            raise choice.wrong("index", f"a number from 0 to {_MOST_CANDIDATES - 1}")
        reader = self._choices.get(index)
        if reader is None:
            reader = self._choices[index] = ChoiceReader(index)
        if (delta := choice.members(member)) is not None:
            yield from reader.delta(delta)
            yield from _citations(delta, index, reader)
            yield from _images(delta, index, reader)
        if (logprobs := choice.members("logprobs")) is not None:
            yield Tokens([_token(each) for each in logprobs.objects("content")], index)
        if reason := choice.text("finish_reason"):
            reader.stop(reason)


def _citations(delta: Members, index: int, reader: ChoiceReader) -> Iterator[Event]:
    if not reader.is_text_open:
        return
    for annotation in delta.objects("annotations"):
        cited = annotation.members("url_citation")
        if cited is not None:
            citation = Citation(
                url=cited.text("url") or "",
                title=cited.text("title") or "",
                start=cited.integer("start_index"),
                end=cited.integer("end_index"),
            )
            yield Cite(citation, index)


def _images(delta: Members, index: int, reader: ChoiceReader) -> Iterator[Event]:
    """Images in an answer: `images`, a member that OpenRouter has added."""
    for image in delta.objects("images"):
        inner = image.members("image_url")
        url = None if inner is None else inner.text("url")
        if url is None:
            continue
        source = read_data_url(url, image.place) if url.startswith("data:") else Link(url)
        yield from reader.block(Media(kind="image", source=source))


def _token(entry: Members) -> TokenLogprob:
    top = [
        (t.text("token") or "", t.number("logprob") or 0.0) for t in entry.objects("top_logprobs")
    ]
    return TokenLogprob(entry.text("token") or "", entry.number("logprob") or 0.0, top)


def read_usage(counts: Members | None) -> Usage | None:
    """The usage of an answer, None for none."""
    if counts is None:
        return None
    prompt, completion = counts.integer("prompt_tokens"), counts.integer("completion_tokens")
    if prompt is None and completion is None:
        return None
    inner, outer = (
        counts.members("prompt_tokens_details"),
        counts.members("completion_tokens_details"),
    )
    cached = None if inner is None else inner.integer("cached_tokens")
    if cached is None:
        cached = counts.integer("prompt_cache_hit_tokens")  # DeepSeek
    return Usage(
        input=prompt or 0,
        output=completion or 0,
        cached=cached or 0,
        cache_write=(inner.integer("cache_write_tokens") or 0) if inner is not None else 0,
        reasoning=(outer.integer("reasoning_tokens") or 0) if outer is not None else 0,
    )


_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "insufficient_quota": 429,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "service_unavailable": 503,
    "overloaded_error": 503,
}


def read_error_member(document: Members) -> UpstreamError:
    """The error of a chunk or of an answer."""
    if document.is_text("error"):
        return UpstreamError(502, document.text("error") or "")
    error = document.members("error")
    assert error is not None
    kind = _word(error, "type")
    code = _word(error, "code")
    status = _STATUSES.get(code) or _STATUSES.get(kind)
    if status is None and code.isdigit() and 400 <= int(code) <= 599:
        status = int(code)
    return UpstreamError(status or 502, _word(error, "message"), code or kind)


def _word(error: Members, name: str) -> str:
    """A member as text, whatever it is."""
    return error.text(name) or "" if error.is_text(name) else error.peek(name).decode()


def read_error(status: int, document: Any) -> UpstreamError:
    """The error in an error response; `document` is its JSON, None for none."""
    error = document.get("error", document) if isinstance(document, dict) else document
    if isinstance(error, str):
        return UpstreamError(status, error)
    if not isinstance(error, dict):
        return UpstreamError(status, "")
    message, code = error.get("message") or error.get("detail"), error.get("code")
    kind = code if isinstance(code, str) else error.get("type")
    return UpstreamError(
        status,
        message if isinstance(message, str) else "",
        kind if isinstance(kind, str) else "",
    )
