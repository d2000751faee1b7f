"""Test doubles for a rehearsal: clients with canned responses, credentials that are not fetched,
counters at zero."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from msgspec import Raw, json

from engine import dialects, translations
from engine.credentials.interface.credential import Credential, LiveCredential
from engine.offline.rehearsal.observation import QuotaTake, SentRequest, UpstreamAnswers
from engine.translations.embeddings.language import EmbeddingLanguage, Embeddings
from engine.translations.embeddings.languages import embedding_languages
from engine.translations.neutral.answer import collect
from engine.translations.neutral.content import Text
from engine.translations.neutral.events import Close, Delta, End, Event, Finish, Open, Start
from engine.translations.neutral.language import Language, RequestLine
from engine.translations.neutral.refusals import UNREADABLE
from engine.translations.neutral.request import ChatRequest
from engine.upstream.client.address import origin_of
from engine.upstream.client.client import Client
from engine.upstream.client.failures import ConnectFailed, FirstByteTimeout, Reset, UpstreamFailure
from engine.upstream.client.request import request_head
from engine.upstream.client.response import UpstreamResponse
from engine.values.counters import Limit, TakeResult
from engine.values.quota_window import window_seconds
from engine.values.upstream_request import Spool
from engine.values.usage import Usage

_ID = "rehearsal"
_FAILURES: dict[str, type[UpstreamFailure]] = {
    "connect": ConnectFailed,
    "timeout": FirstByteTimeout,
    "reset": Reset,
}


class StandInAnswer(NamedTuple):
    """A body and its media type."""

    media_type: str
    body: bytes


NO_ANSWER = StandInAnswer("application/json", b"{}")


def stand_in_answer(target: str, body: bytes) -> StandInAnswer:
    """The answer to a request with this path and query: a stream if the request asks for one. The
    answer to a request in no known language has each member that an answer may need."""
    try:
        return _answer_to(target, body)
    except UNREADABLE:  # relayed unchanged, because the document of its API allows it
        return _any_answer()


@cache
def _any_answer() -> StandInAnswer:
    by_path = (dialects.get(name).answer_members.values() for name in dialects.names())
    members = {name: "OK" for paths in by_path for names in paths for name in names}
    return StandInAnswer("application/json", json.encode(members))


def _answer_to(target: str, body: bytes) -> StandInAnswer:
    path, _, query = target.partition("?")
    for embedding_language in embedding_languages():
        if embedding_language.speaks(path):
            return _embeddings(embedding_language, body)
    for language in translations.target_languages():
        if language.speaks(path) and not isinstance(language, Language):
            return StandInAnswer("application/json", language.example_answer)
    for language in translations.languages():
        if language.speaks(path):
            streams = path.endswith(language.stream_suffix or "\0")
            line = RequestLine(model=_ID, stream=streams, query=query, id=_ID)
            return _chat(language, language.read_request(body, line))
    return _any_answer()


def _embeddings(language: EmbeddingLanguage, body: bytes) -> StandInAnswer:
    request = language.read_request(body, RequestLine(model=_ID, id=_ID))
    answer = Embeddings(vectors=[Raw(b"[0.5]")] * len(request.inputs), input_tokens=1)
    return StandInAnswer("application/json", language.write_answer(answer, request))


def _chat(language: Language, request: ChatRequest) -> StandInAnswer:
    if not request.stream:
        return StandInAnswer("application/json", language.write_answer(collect(_events()), request))
    writer = language.stream_writer(request)
    return StandInAnswer("text/event-stream", b"".join(writer.write(o) for o in _events()))


def _events() -> list[Event]:
    return [
        Start(id=_ID, model=_ID),
        Open(Text()),
        Delta("OK"),
        Close(),
        End(finishes={0: Finish(stop="end")}, usage=Usage(input=1, output=1)),
    ]


log = logging.getLogger("modelway")


class CannedResponse(UpstreamResponse):
    """A response with a fixed status and body."""

    def __init__(self, status: int, answer: StandInAnswer) -> None:
        self.status = status
        self.headers = [("content-type", answer.media_type)]
        self._body = answer.body
        self.length = len(self._body)

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)

    def read(self, on_data: Any = None, beat: float | None = None) -> bytes:
        data, self._body = self._body, b""
        return data

    def unread(self, data: bytes) -> None:
        """Read `data` again."""
        self._body = data + self._body

    @property
    def is_complete(self) -> bool:
        return not self._body

    def close(self) -> None:
        """Do nothing: there is no connection."""


class Recorder(Client):
    """A client that records requests and returns canned responses."""

    def __init__(
        self, url: str, *, requests: list[SentRequest], answers: UpstreamAnswers, **settings: object
    ) -> None:
        origin = origin_of(url)
        self.base_path, self.host = origin.base_path, origin.host_header
        self.proxy_authorization, self._addresses = "", None
        # Set later: a client gets only the URL of its upstream.
        self.name = ""
        self._base = url.removesuffix(origin.base_path) if origin.base_path else url
        self._requests = requests
        self._answers = answers

    def send(
        self,
        method: str,
        target: str,
        headers: Sequence[tuple[str, str]],
        body: bytes | Spool | None,
        total: float | None = None,
    ) -> UpstreamResponse:
        """Record the request. Raises the UpstreamFailure of `answers`, and ValueError as Client."""
        data = body if isinstance(body, bytes) else b"".join(body.chunks()) if body else b""
        request_head(method, target, self.host, headers, len(data))
        answer = self._answers.of(self.name)
        url = f"{self._base}{target}"
        self._requests.append(SentRequest(self.name, method, url, tuple(headers), data, answer))
        if isinstance(answer, str):
            failure = _FAILURES[answer]("rehearsed")
            failure.request_sent = answer != "connect"
            raise failure
        return CannedResponse(answer, stand_in_answer(target, data) if answer < 300 else NO_ANSWER)

    @property
    def connections(self) -> tuple[int, int]:
        return 0, 0

    def close(self) -> None:
        """Do nothing: there is no pool."""


def recorder(requests: list[SentRequest], answers: UpstreamAnswers) -> Any:
    """A constructor of Recorders, to replace Client."""
    return partial(Recorder, requests=requests, answers=answers)


class UnaskedGuards:
    """GuardCalls that are not asked: whatever they would judge passes."""

    def post(self, webhook: str, body: bytes, timeout: float) -> bytes | None:
        """Say that nobody was asked."""
        log.info(
            "a guard would be asked about %d bytes of texts here: it counts as passed", len(body)
        )
        return None

    def note(self, webhook: str, stage: str, verdict: str) -> None:
        """Count nothing."""


class RecordingCounters:
    """Counters at zero that append the amounts taken to `takes`."""

    def __init__(self, takes: list[QuotaTake]) -> None:
        self._takes = takes

    def take(self, limits: tuple[Limit, ...], costs: Sequence[int]) -> TakeResult:
        takes = list(zip(limits, costs, strict=True))
        self._takes.extend(takes)
        remaining = [max(0, limit.amount - cost) for limit, cost in takes]
        windows = [window_seconds(limit.window) for limit in limits]
        over = [index for index, (limit, cost) in enumerate(takes) if cost > limit.amount]
        if over:
            return TakeResult(over[0], remaining, windows, waits=windows)
        return TakeResult(None, remaining, windows)

    def settle(self, receipt: object, costs: Sequence[int]) -> None:
        """Do nothing: nothing was taken."""

    def close(self) -> None:
        """Do nothing: nothing is open."""


def placeholder(credential: Credential, changed: Callable[[], None]) -> LiveCredential:
    """The credential for a rehearsal."""
    return credential.placeholder()
