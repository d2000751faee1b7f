"""CPU of a transform and of a `deny`: `python benchmarks/transforms.py [rounds]`.

CPU microseconds of the stage for a typical chat body of 1 KB, parsed already, with three edits that
all change it, with three that find nothing to do, and with a larger body; and of a `deny` with two
conditions, of which the first holds. Without transforms there is no such stage.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import orjson

from benchmarks.chat import BODY
from engine.config.transforms import TransformConfig
from engine.dialects import default
from engine.exchange.exchange import Content, Exchange, Response
from engine.exchange.request_body import Body
from engine.exchange.stage_services import Services
from engine.policies import deny
from engine.transforms.caller_side import edit_request
from engine.transforms.compile import compile_all
from engine.transforms.template import TemplateValues

CALLS = 200
EDITS: dict[str, dict[str, Any]] = {
    "three edits": {"default": {"seed": 7}, "set": {"store": False}, "rename": {"model": "name"}},
    "three without effect": {"default": {"model": "x"}, "remove": ["a", "b"]},
}
DENY = {"if": {"body": {"model": orjson.loads(BODY)["model"], "n": {"minimum": 2}}}}
LARGE = orjson.dumps({**orjson.loads(BODY), "prediction": "x" * 100_000})


Step = Callable[[Exchange], object]


def transform(edits: dict[str, Any]) -> Step:
    config = TransformConfig({"request": {"body": edits}}, ("policies", 0))
    transforms = compile_all([config], upstream=False)
    return lambda exchange: edit_request(exchange, transforms, TemplateValues(exchange))


def denial() -> Step:
    stage = deny.POLICY.build(deny.read(DENY), Services())
    response = Response(200, [])
    return lambda exchange: stage(exchange, lambda _: response)


def seconds(body: bytes, step: Step) -> float:
    """CPU seconds of one step of a request, without its parsing."""
    exchanges = []
    for _ in range(CALLS):
        exchange = Exchange(
            "POST", "/v1/chat/completions", "", {"CONTENT_TYPE": "application/json"}, default()
        )
        exchange.body = Body(body)
        exchange.content = Content("application/json", orjson.loads(body))
        exchanges.append(exchange)
    start = time.process_time()
    for exchange in exchanges:
        step(exchange)
    return (time.process_time() - start) / CALLS


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    steps = {name: transform(edits) for name, edits in EDITS.items()}
    steps["deny, two conditions"] = denial()
    cases = [
        (f"{name}, {len(body)} bytes", body, step)
        for name, step in steps.items()
        for body in (BODY, LARGE)
    ]
    times: dict[str, list[float]] = {name: [] for name, _, _ in cases}
    for _ in range(rounds):
        for name, body, step in cases:
            times[name].append(seconds(body, step))
    for name, durations in times.items():
        print(f"{name:<40} {statistics.median(durations) * 1e6:6.1f} us")


if __name__ == "__main__":
    main()
