"""The workload, in a process of its own: `python -m benchmarks.translation.counted instructions
LIBRARY`, under callgrind, or `python -m benchmarks.translation.counted bytecodes`, or `moves`, or
`moves --list`. With `off` as the last argument no model may be translated, and only relayed chats
are counted.

A worker, its caller and its vendors in one process. Prints a JSON object: what a chat takes that is
answered in one piece, and an event of a stream of 200 (its request included), by the languages of
caller and vendor: `{"chat_completions messages chat": 1344488}`.

`moves` are the engine's modules that one stream of ten events enters, and the calls from one of
them into another. The way of a request is measured by one of them, `chat_completions -> messages`:
a chat over HTTP/1.1 whose ten events are translated as they arrive. `--list` prints each of its
moves, `from -> to`, the most frequent first. The telemetry that is written at once for a batch of
requests belongs to none of them, and is not counted.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import gevent
import gevent.monkey

gevent.monkey.patch_all()

from benchmarks.counts import clocks  # noqa: E402

clocks.stop()

from gevent.lock import Semaphore  # noqa: E402
from gevent.server import StreamServer  # noqa: E402

from benchmarks.counts.house import BATCH, TOKEN, House  # noqa: E402
from benchmarks.counts.meters import Bytecodes, Instructions, Meter, Moves  # noqa: E402
from benchmarks.translation.chats import LANGUAGES  # noqa: E402
from benchmarks.translation.setup import CONFIG, messages  # noqa: E402
from benchmarks.translation.vendors import Vendor, read_message  # noqa: E402
from engine.translations.neutral.language import Language  # noqa: E402

_REQUESTS, _EVENTS, _FEW_EVENTS, _WARM = 25, 200, 10, 25
_TRACED = "chat_completions", "messages"


class _Caller:
    """Asks over one connection; each event of a stream lets the vendor send the next."""

    def __init__(self, sock: Any, turn: Semaphore) -> None:
        self._sock, self._turn = sock, turn

    def ask(self, requests: Iterator[bytes], count: int) -> None:
        for _ in range(count):
            self._sock.sendall(next(requests))
            head, body = read_message(self._sock)
            if not head.startswith(b"HTTP/1.1 200"):
                raise RuntimeError(head + body[:500])

    def stream(self, requests: Iterator[bytes], count: int) -> None:
        self._sock.sendall(next(requests))
        data, events = b"", 0
        while not data.endswith(b"0\r\n\r\n"):
            data = self._sock.recv(65536)
            if not data or data.startswith((b"HTTP/1.1 4", b"HTTP/1.1 5")):
                raise RuntimeError(data[:500])
            events += data.count(b"data: ")
            self._turn.release()
        if events < count:
            raise RuntimeError(f"a stream has {events} events")


_Pairs = list[tuple[Language, Language]]
_Measure = Callable[[_Caller, _Pairs], dict[str, int]]


def main(kind: str, *arguments: str) -> None:
    translate = "off" not in arguments
    measure = _measures(kind, arguments)
    turn = Semaphore(0)
    vendor = Vendor(_FEW_EVENTS if kind == "moves" else _EVENTS, turn.acquire)
    server = StreamServer(("127.0.0.1", 0), vendor.handle)
    server.start()
    tokens = "  - {{name: counted, sha256: {digest}}}"
    config = CONFIG.replace("{tokens}", tokens).replace("{listen}", "8080")
    if not translate:
        config = config.replace("translate: strict", "translate: 'off'")
    with tempfile.TemporaryDirectory() as name:
        house = House(Path(name), server.server_port or 0, config)
        try:
            counts = measure(_Caller(house.connect(), turn), _pairs(translate))
        finally:
            house.close()
    print(json.dumps(counts, indent=2 if "--list" in arguments else None), flush=True)
    os._exit(0)  # neither threads nor exit handlers: what was counted is counted


def _measures(kind: str, arguments: tuple[str, ...]) -> _Measure:
    if kind == "moves":
        return _list_moves if "--list" in arguments else _count_moves
    return partial(_count, Instructions(arguments[0]) if kind == "instructions" else Bytecodes())


def _pairs(translate: bool) -> _Pairs:
    return [(a, b) for a in LANGUAGES for b in LANGUAGES if translate or a is b]


def _count(meter: Meter, caller: _Caller, pairs: _Pairs) -> dict[str, int]:
    for source, target in pairs:
        caller.ask(messages(source, target.name, [TOKEN], stream=False), 2)
    meter.begin()
    counts = {}
    for source, target in pairs:
        requests = messages(source, target.name, [TOKEN], stream=False)
        caller.ask(requests, _WARM)
        meter.zero()
        caller.ask(requests, _REQUESTS)
        counts[f"{source.name} {target.name} chat"] = round(meter.read() / _REQUESTS)
        requests = messages(source, target.name, [TOKEN], stream=True)
        caller.stream(requests, _EVENTS)
        meter.zero()
        caller.stream(requests, _EVENTS)
        counts[f"{source.name} {target.name} event"] = round(meter.read() / _EVENTS)
    return counts


def _count_moves(caller: _Caller, pairs: _Pairs) -> dict[str, int]:
    counts = {}
    for source, target in pairs:
        moves = _moves(caller, source, target)
        counts[f"{source.name} {target.name} modules"] = len(moves.modules)
        counts[f"{source.name} {target.name} moves"] = moves.calls.total()
    return counts


def _list_moves(caller: _Caller, pairs: _Pairs) -> dict[str, int]:
    (pair,) = [(a, b) for a, b in pairs if (a.name, b.name) == _TRACED]
    calls = _moves(caller, *pair).calls.most_common()
    return {f"{source} -> {target}": count for (source, target), count in calls}


def _moves(caller: _Caller, source: Language, target: Language) -> Moves:
    """Those of one stream amid a batch of telemetry; the streams around it fill two batches."""
    requests = messages(source, target.name, [TOKEN], stream=True)
    moves, before = Moves(), BATCH + 2
    for _ in range(before):
        caller.stream(requests, _FEW_EVENTS)
    moves.begin()
    caller.stream(requests, _FEW_EVENTS)
    moves.end()
    for _ in range(2 * BATCH - before - 1):
        caller.stream(requests, _FEW_EVENTS)
    return moves


if __name__ == "__main__":
    main(*sys.argv[1:])
