"""The translation alone: no socket, no gateway around it."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from benchmarks.translation.chats import CROSSINGS, VARIANTS, answers, data_of, requests, stream
from engine.translations.neutral.language import Language, RequestLine
from engine.translations.neutral.refusals import LossRules
from engine.translations.translation import TranslatedExchange, Translation

EVENTS = 200
_RULES = LossRules()


class Work(NamedTuple):
    """A piece of work with its name, and how many of its units one call does."""

    name: str
    units: int
    run: Callable[[], object]


def exchanges(source: Language, target: Language, *, stream: bool) -> list[TranslatedExchange]:
    """Every request of a language, translated."""
    translation = Translation(source, target)
    callers = requests(source, "m", stream=stream)
    line = RequestLine("m", stream, callers[0].query, "0123456789abcdef", 1_750_000_000)
    return [
        translation.request(caller_request.body, line, "m", _RULES) for caller_request in callers
    ]


def pieces(source: Language, target: Language) -> Iterator[Work]:
    """The work of one crossing: a request, an answer in one piece, an event of a stream."""
    exchange_list = exchanges(source, target, stream=False)
    bodies = answers(target)

    def answer() -> None:
        for exchange, body in zip(exchange_list, bodies, strict=True):
            exchange.answer(body)

    streamed = exchanges(source, target, stream=True)[0]
    events = stream(target, EVENTS)
    head, data = data_of(events.head), [data_of(event)[0] for event in events.pieces]

    def stream_events() -> None:
        translator = streamed.stream()
        for event_data in head:
            translator.event(event_data)
        for event_data in data:
            translator.event(event_data)

    yield Work("request", VARIANTS, lambda: exchanges(source, target, stream=False))
    yield Work("answer", VARIANTS, answer)
    yield Work("event", EVENTS, stream_events)


def measure(turns: int = 15) -> None:
    """Print the CPU microseconds of each crossing, medians of turns."""
    print(f"{'CPU of the translation alone, us':<40}{'request':>9}{'answer':>9}{'event':>9}")
    works = {(a.name, b.name): list(pieces(a, b)) for a, b in CROSSINGS}
    durations: dict[tuple[str, str, str], list[float]] = {}
    gc.collect()
    for _ in range(turns):
        for (source, target), crossing in works.items():
            for work in crossing:
                start = time.process_time()
                work.run()
                cost = (time.process_time() - start) / work.units * 1e6
                durations.setdefault((source, target, work.name), []).append(cost)
    for source, target in works:
        medians = [
            statistics.median(durations[source, target, name])
            for name in ("request", "answer", "event")
        ]
        print(
            f"{source + ' -> ' + target:<40}" + "".join(f"{duration:9.1f}" for duration in medians)
        )
