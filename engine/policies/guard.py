"""`guard: {webhook: https://guard.example.com, mode: redact}`: a service of yours judges texts.

Its texts are those of the request in the caller's format, before translation, and those of the
answer, whole or in windows of a stream. `openapi/guard.yaml` describes what it is asked and
answers; `engine/guardrails` asks it. Behind a `transform` the request is judged as that has edited
it.
"""

from __future__ import annotations

from engine.config.json_schema import Schema
from engine.exchange.environ_headers import without_ranges
from engine.exchange.exchange import Exchange, Handler, Response, Stage
from engine.exchange.stage_services import Services
from engine.guardrails.guard import Guard
from engine.guardrails.request import judge_request
from engine.guardrails.response import judge_response
from engine.guardrails.settings import MODES, REQUEST, RESPONSE, STAGES, GuardSettings
from engine.policies.interface import Moment, StagePolicy
from engine.values import units

_STAGE = {"type": "string", "enum": [*STAGES]}
_SCHEMA: Schema = {
    "description": "Texts are judged by a webhook, as openapi/guard.yaml describes.",
    "type": "object",
    "additionalProperties": False,
    "required": ["webhook"],
    "properties": {
        "webhook": {
            "description": "Its URL; or the name of an upstream, with its URL, credential and TLS.",
            "type": "string",
            "minLength": 1,
        },
        "on": {
            "description": "Which texts it judges. Absent: both.",
            "anyOf": [
                _STAGE,
                {"type": "array", "minItems": 1, "uniqueItems": True, "items": _STAGE},
            ],
        },
        "mode": {
            "description": "block: what it finds is refused; redact: it may also replace texts; "
            "report: its verdicts are only logged, and nothing waits for them.",
            "type": "string",
            "enum": [*MODES],
            "default": "block",
        },
        "timeout": {
            "description": "For each question.",
            "type": "string",
            "pattern": units.DURATION,
            "default": "2s",
            "x-modelway": {"unit": "duration"},
        },
        "on_failure": {
            "description": "What becomes of texts that it did not judge: block (503) or pass.",
            "type": "string",
            "enum": ["block", "pass"],
            "default": "block",
        },
        "window": {
            "description": "Characters of a stream that are judged together.",
            "type": "integer",
            "minimum": 20,
            "maximum": 100_000,
            "default": 400,
        },
        "overlap": {
            "description": "Characters at the end of a window that are judged again with the next.",
            "type": "integer",
            "minimum": 0,
            "maximum": 10_000,
            "default": 60,
        },
        "chunk": {
            "description": "The most characters of one question; longer texts are several.",
            "type": "integer",
            "minimum": 1000,
            "maximum": 1_000_000,
            "default": 20_000,
        },
    },
}


def _build(options: GuardSettings, services: Services) -> Stage:
    asks = Guard(options, services.guard_calls)

    def guard(exchange: Exchange, following: Handler) -> Response:
        if REQUEST in options.stages:
            judge_request(asks, exchange)
        if RESPONSE not in options.stages:
            return following(exchange)
        if not options.reports:
            exchange.environ = without_ranges(exchange.environ)
        return judge_response(asks, exchange, following(exchange))

    return guard


POLICY = StagePolicy(
    schema=_SCHEMA,
    read=GuardSettings.read,
    build=_build,
    moment=Moment.WRITTEN,
    reads_body=lambda options: REQUEST in options.stages,
)
