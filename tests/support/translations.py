"""The files of `tests/cases/translations/`, and events read from them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from engine import dialects
from engine.metering.readers import reader
from engine.translations import language, target_language, target_languages
from engine.translations.neutral.answer import Answer, collect
from engine.translations.neutral.answer_state import AnswerState
from engine.translations.neutral.events import Event, UsageSource
from engine.translations.neutral.language import BaseLanguage, Language, RequestLine, TargetLanguage
from engine.translations.neutral.refusals import LossRules
from engine.translations.translation import TranslatedExchange, Translation
from engine.upstream.responses.translated_events import TranslatedErrors, TranslatedEvents
from engine.values.event_json import json_or_none
from engine.values.redaction import Redaction

NEVER_DROPPED = {"previous_response_id", "conversation", "prompt", "cachedContent"}
"""Features that a target of another language is never asked for, since they refer to turns that are
not in the request: not even a `lossy` model is sent the rest."""

CASES = Path(__file__).parent.parent / "cases" / "translations"


def cases(kind: str, pattern: str, base: type[TargetLanguage] = Language) -> list[object]:
    """Each language of a type (those of callers, or all) with each of its files of a kind."""
    return [
        pytest.param(each, file, id=f"{each.name}-{file.stem}")
        for each in target_languages()
        if isinstance(each, base)
        for file in sorted((CASES / each.name / kind).glob(pattern))
    ]


def event_data(stream: bytes) -> list[bytes]:
    """The data of the events of a clean stream."""
    return [
        line.removeprefix(b"data: ") for line in stream.splitlines() if line.startswith(b"data: ")
    ]


def events_of(speaks: TargetLanguage, stream: bytes) -> Iterator[Event]:
    """The neutral events of a clean stream."""
    return events_in(speaks, event_data(stream))


def events_in(speaks: TargetLanguage, documents: Iterable[bytes]) -> Iterator[Event]:
    """The neutral events of the data of a stream's events, with the usage that they report."""
    meter = dialects.get(speaks.dialect).meter
    assert meter is not None
    tally, stream_reader = meter.tally(), speaks.stream_reader()
    law = AnswerState(usage=tally.usage)
    for data in documents:
        tally.take(json_or_none(data))
        yield from law.checked(stream_reader.read(data))
    yield from law.checked(stream_reader.end())


def usage_in(speaks: BaseLanguage, body: bytes) -> UsageSource:
    """The usage that an answer in one piece reports."""
    meter = dialects.get(speaks.dialect).meter
    assert meter is not None
    usage = meter.usage_of(json_or_none(body))
    return lambda: usage


def read_whole(speaks: TargetLanguage, body: bytes) -> Answer:
    """An answer in one piece, with the usage that it reports."""
    law = AnswerState(usage=usage_in(speaks, body))
    return collect(law.checked(speaks.read_answer(body)))


def relayed(
    exchange: TranslatedExchange, pieces: Iterable[bytes]
) -> tuple[bytes, Exception | None]:
    """What a caller gets of a stream that arrives in these pieces, and why it breaks off."""
    source, target = exchange.translation.source, exchange.translation.target
    dialect = dialects.get(target.dialect)
    usage = reader(dialect.meter, "text/event-stream")
    errors = TranslatedErrors(dialects.get(source.dialect), "req1", Redaction(()), [])
    events = TranslatedEvents(exchange.stream(usage.usage), dialect, usage, errors)
    output = [events.feed(piece) for piece in pieces]
    return b"".join([*output, events.finish()]), events.failure


_TURN = {"role": "user", "content": "Hi"}
_REQUESTS = {
    "chat_completions": {"model": "alias", "messages": [_TURN]},
    "responses": {"model": "alias", "input": "Hi", "store": False},
    "messages": {"model": "alias", "max_tokens": 9, "messages": [_TURN]},
    "generate_content": {"contents": [{"parts": [{"text": "Hi"}]}]},
}


def _exchange(caller: str, target: str, *, stream: bool) -> TranslatedExchange:
    pair = Translation(language(caller), target_language(target))
    body = json.dumps(_REQUESTS[caller]).encode()
    exchange = pair.request(body, RequestLine(id="req1", time=1_700_000_000), "m", LossRules())
    exchange.request.stream = stream
    return exchange


def translated(
    documents: list[bytes], caller: str, target: str, *, from_stream: bool, stream: bool
) -> bytes:
    """What a caller gets of an upstream's answer: of its one document, or of those of a stream."""
    exchange = _exchange(caller, target, stream=stream)
    if not from_stream:
        return exchange.answer(documents[0], usage_in(exchange.translation.target, documents[0]))
    return translated_stream(exchange, documents)


def translated_stream(exchange: TranslatedExchange, documents: Iterable[bytes]) -> bytes:
    """What a caller gets of the events of a stream. Raises what breaks it off."""
    return b"".join(translated_events(exchange, documents))


def translated_events(exchange: TranslatedExchange, documents: Iterable[bytes]) -> Iterator[bytes]:
    """What a caller gets of each event of a stream, and of its end."""
    meter = dialects.get(exchange.translation.target.dialect).meter
    assert meter is not None
    tally = meter.tally()
    translator = exchange.stream(tally.usage)
    for data in documents:
        tally.take(json_or_none(data))
        yield translator.event(data)
    yield translator.end()
