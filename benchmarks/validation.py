"""CPU of validating one request: `python benchmarks/validation.py [rounds]`.

A typical chat body of 1 KB against the shipped document, in CPU microseconds: by the engine (with
JSON parsing), by the two calls of libraries inside it, and by openapi-core. The three take turns,
round by round, so that other load of the machine affects all of them.
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
from jsonschema_path import SchemaPath
from openapi_core import V31RequestValidator
from openapi_core.testing import MockRequest

from benchmarks.chat import BODY
from engine.dialects import default
from engine.exchange.exchange import Exchange
from engine.exchange.request_body import Body
from engine.source.files import DOCUMENTS
from engine.source.problem import Findings
from engine.spec.bodies.request_bodies import check
from engine.spec.spec import read

MEDIA_TYPE = "application/json"


def ours() -> tuple[Callable[[], None], Callable[[], None]]:
    """The engine's check of a request, and the two calls of libraries inside it."""
    findings = Findings()
    document = read("openai", DOCUMENTS / "openai.yaml", "openapi/openai.yaml", (), findings)
    assert document is not None, findings.problems
    bodies = document.operations["createChatCompletion"].bodies
    validator = bodies.rules[MEDIA_TYPE].validator
    assert validator is not None
    body, environ = Body(BODY), {"CONTENT_TYPE": MEDIA_TYPE}

    def check_request() -> None:
        exchange = Exchange("POST", "/v1/chat/completions", "", environ, default())
        exchange.body = body
        rule = bodies.parse(exchange)
        assert rule is not None
        check(rule, exchange.content.value)

    def bare_steps() -> None:
        assert validator.is_valid(orjson.loads(BODY))

    return check_request, bare_steps


def theirs() -> Callable[[], None]:
    """openapi-core's validation of a request; its document is read beforehand."""
    spec = SchemaPath.from_file_path(str(DOCUMENTS / "openai.yaml"))
    validator = V31RequestValidator(spec)
    request: Any = MockRequest(
        "http://localhost",
        "post",
        "/v1/chat/completions",
        headers={"Authorization": "Bearer x"},
        data=BODY,
        content_type=MEDIA_TYPE,
    )

    def check_request() -> None:
        validator.validate(request)

    return check_request


def microseconds(step: Callable[[], None], times: int) -> float:
    """Microseconds of CPU of one call: the mean of `times` calls."""
    before = time.process_time_ns()
    for _ in range(times):
        step()
    return (time.process_time_ns() - before) / times / 1000


def main(rounds: int = 15) -> None:
    check_request, bare_steps = ours()
    contenders: list[tuple[str, Callable[[], None], int]] = [
        ("engine: parse and check", check_request, 5000),
        ("orjson.loads and is_valid", bare_steps, 5000),
        ("openapi-core, per request", theirs(), 100),
    ]
    for _, step, times in contenders:
        microseconds(step, times // 10)
    durations: dict[str, list[float]] = {name: [] for name, _, _ in contenders}
    for _ in range(rounds):
        for name, step, times in contenders:
            durations[name].append(microseconds(step, times))
    print(f"a chat body of {len(BODY)} bytes, {rounds} rounds, CPU microseconds per request")
    for name, costs in durations.items():
        low, high = min(costs), max(costs)
        print(f"{name:28} median {statistics.median(costs):8.1f}   from {low:.1f} to {high:.1f}")
    ours_, theirs_ = (statistics.median(costs) for costs in (list(durations.values())[::2]))
    print(f"{'openapi-core by the engine':28} {theirs_ / ours_:15.0f} times")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
