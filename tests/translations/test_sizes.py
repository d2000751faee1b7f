"""What a translation costs grows no faster than the size of what is translated.

The size of every day shows what is searched or compared once more for each part. A larger one, such
as `MODELWAY_SIZES=9000`, also shows what is only copied.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from engine.translations import languages
from engine.translations.language import Language, RequestLine
from engine.translations.neutral.answer import collect
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import ChatRequest
from engine.translations.refusals import LossRules
from engine.translations.translation import Translation
from engine.values.wildcard import Patterns
from tests.support.growth import MOST_GROWTH, Work, growth
from tests.support.translation_sizes import (
    ANSWERS,
    REQUESTS,
    answer_body,
    answer_events,
    answer_stream,
    request_body,
)
from tests.support.translations import event_data

LARGE = int(os.environ.get("MODELWAY_SIZES", "1600"))

EVERY_LANGUAGE = pytest.mark.parametrize("language", languages(), ids=lambda o: o.name)
MODELS = {"generate_content": "gemini-3-pro", "messages": "claude-opus-4-1"}


def too_fast(growths: dict[str, float]) -> dict[str, float]:
    return {kind: rate for kind, rate in growths.items() if rate > MOST_GROWTH}


def write_request(language: Language, kind: str, count: int) -> Callable[[], Work]:
    def made() -> Work:
        request = REQUESTS[kind](count)
        model = MODELS.get(language.name, "gpt-5")
        return lambda: language.write_request(request, model, Losses(Patterns(())))

    return made


def read_request(language: Language, kind: str, count: int) -> Callable[[], Work]:
    body = request_body(language, kind, count)
    return lambda: lambda: language.read_request(body, RequestLine(model="m"))


def read_answer(language: Language, kind: str, count: int) -> Callable[[], Work]:
    body = answer_body(language, kind, count)
    return lambda: lambda: collect(language.read_answer(body))


def read_stream(language: Language, kind: str, count: int) -> Callable[[], Work]:
    data = event_data(b"".join(answer_stream(language, kind, count)))

    def read() -> None:
        reader = language.stream_reader()
        for each in data:
            for _ in reader.read(each):
                pass
        list(reader.end())

    return lambda: read


def write_stream(language: Language, kind: str, count: int) -> Callable[[], Work]:
    def made() -> Work:
        events = answer_events(kind, count)
        writer = language.stream_writer(ChatRequest(language="", model="m", messages=[]))
        return lambda: [writer.write(event) for event in events]

    return made


def write_answer(language: Language, kind: str, count: int) -> Callable[[], Work]:
    answer = collect(answer_events(kind, count))
    request = ChatRequest(language="", model="m", messages=[])
    return lambda: lambda: language.write_answer(answer, request)


def translate_to_stream(language: Language, kind: str, count: int) -> Callable[[], Work]:
    """An answer in one piece for a caller that asked for a stream, from the next language."""
    names = [each.name for each in languages()]
    target = languages()[(names.index(language.name) + 1) % len(names)]
    body, request = (
        answer_body(target, kind, count),
        request_body(language, "parts of a message", 1),
    )
    line = RequestLine(model="m")
    exchange = Translation(language, target).request(request, line, "m", LossRules(lossy=True))
    exchange.request.stream = True
    return lambda: lambda: exchange.answer(body)


@EVERY_LANGUAGE
@pytest.mark.parametrize("work", [read_request, write_request])
def test_requests_cost_what_their_parts_cost(
    language: Language, work: Callable[[Language, str, int], Callable[[], Work]]
) -> None:
    growths = {kind: growth(lambda n, k=kind: work(language, k, n), LARGE) for kind in REQUESTS}  # type: ignore[misc]
    assert too_fast(growths) == {}


@EVERY_LANGUAGE
@pytest.mark.parametrize(
    "work", [read_answer, write_answer, read_stream, write_stream, translate_to_stream]
)
def test_answers_cost_what_their_parts_cost(
    language: Language, work: Callable[[Language, str, int], Callable[[], Work]]
) -> None:
    growths = {kind: growth(lambda n, k=kind: work(language, k, n), LARGE) for kind in ANSWERS}  # type: ignore[misc]
    assert too_fast(growths) == {}
