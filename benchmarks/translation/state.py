"""The bytes that a stream holds while it is translated."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterable

import orjson

from benchmarks.translation.chats import CROSSINGS, data_of, stream
from benchmarks.translation.engine import exchanges
from engine.translations.neutral.content import Text, ToolCall
from engine.translations.neutral.events import Close, Delta, Event, Open, Start
from engine.translations.neutral.language import Language
from engine.translations.neutral.request import ChatRequest

_TOKENS = 20_000
_ARGUMENTS = 1_000_000


def text(target: Language) -> list[bytes]:
    """The data of the vendor's stream of a long text."""
    events = stream(target, _TOKENS)
    return [*data_of(events.head), *(data_of(event)[0] for event in events.pieces)]


def arguments(target: Language) -> list[bytes]:
    """The data of the vendor's stream of a tool call with large arguments, as the engine writes
    it, not yet closed where the vendor's language sends them in pieces."""
    writer = target.stream_writer(ChatRequest(language=target.name, model="m", messages=[]))
    piece = orjson.dumps("x" * 1000).decode()
    count = _ARGUMENTS // len(piece)
    neutral: list[Event] = [
        Start(id="1", model="m", created=1),
        Open(ToolCall(id="call_1", name="get_weather")),
        Delta('{"city":['),
        *(Delta(piece + ("," if number < count - 1 else "]}")) for number in range(count)),
        Close(),
        Open(Text()),
        Delta("That was it."),
    ]
    return [data for event in neutral for data in data_of(writer.write(event))]


def bytes_held(source: Language, target: Language, data: Iterable[bytes]) -> tuple[int, int]:
    """Bytes that a translator holds behind the events, and the most that it held."""
    exchange = exchanges(source, target, stream=True)[0]
    gc.collect()
    tracemalloc.start()
    translator = exchange.stream()
    for event_data in data:
        translator.event(event_data)
    gc.collect()
    now, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return now, most


def measure() -> None:
    """Print what each crossing holds behind a long text and behind large arguments."""
    print(f"{'KB held: now, at most':<40}{f'{_TOKENS:,} tokens':>20}{'1 MB of arguments':>22}")
    for source, target in CROSSINGS:
        figures = [
            f"{now / 1000:,.1f}, {most / 1000:,.1f}"
            for now, most in (
                bytes_held(source, target, text(target)),
                bytes_held(source, target, arguments(target)),
            )
        ]
        print(f"{source.name + ' -> ' + target.name:<40}{figures[0]:>20}{figures[1]:>22}")
