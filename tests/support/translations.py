"""The files of `tests/cases/translations/`, and events read from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from engine import dialects
from engine.metering.readers import reader
from engine.translations import target_languages
from engine.translations.language import Language, TargetLanguage
from engine.translations.neutral.events import Event
from engine.translations.translation import TranslatedExchange
from engine.upstream.translated_errors import TranslatedErrors
from engine.upstream.translated_events import TranslatedEvents
from engine.values.redaction import Redaction

CASES = Path(__file__).parent.parent / "cases" / "translations"


def cases(kind: str, pattern: str, base: type[TargetLanguage] = Language) -> list[object]:
    """Each language of a type (those of callers, or all) with each of its files of a kind."""
    return [
        pytest.param(language, file, id=f"{language.name}-{file.stem}")
        for language in target_languages()
        if isinstance(language, base)
        for file in sorted((CASES / language.name / kind).glob(pattern))
    ]


def event_data(stream: bytes) -> list[bytes]:
    """The data of the events of a clean stream."""
    return [
        line.removeprefix(b"data: ") for line in stream.splitlines() if line.startswith(b"data: ")
    ]


def events_of(language: TargetLanguage, stream: bytes) -> Iterator[Event]:
    """The neutral events of a clean stream."""
    reader = language.stream_reader()
    for data in event_data(stream):
        yield from reader.read(data)
    yield from reader.end()


def relayed(
    exchange: TranslatedExchange, pieces: Iterable[bytes]
) -> tuple[bytes, Exception | None]:
    """What a caller gets of a stream that arrives in these pieces, and why it breaks off."""
    source, target = exchange.translation.source, exchange.translation.target
    dialect = dialects.get(target.dialect)
    usage = reader(dialect.meter, "text/event-stream")
    errors = TranslatedErrors(dialects.get(source.dialect), "req1", Redaction(()), [])
    events = TranslatedEvents(exchange.stream(), dialect, usage, errors)
    output = [events.feed(piece) for piece in pieces]
    return b"".join([*output, events.finish()]), events.failure
