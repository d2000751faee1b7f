"""The shortest answer of an upstream, in the language of its request."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from msgspec import Raw, json

from engine import dialects, translations
from engine.translations.embeddings.language import EmbeddingLanguage, Embeddings
from engine.translations.embeddings.languages import embedding_languages
from engine.translations.neutral.answer import collect
from engine.translations.neutral.content import Text
from engine.translations.neutral.events import Close, Delta, End, Event, Finish, Open, Start
from engine.translations.neutral.language import Language, RequestLine
from engine.translations.neutral.refusals import UNREADABLE
from engine.translations.neutral.request import ChatRequest
from engine.values.usage import Usage

_ID = "rehearsal"


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
