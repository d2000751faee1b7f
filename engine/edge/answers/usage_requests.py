"""`answer: usage_requests`: the last requests of the caller, without their texts.

Like `usage`, it has no dialect, no limit refuses it, and it has nothing of others.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

import orjson

from engine.edge.answers.own_answer import AnswerSources, OwnAnswer
from engine.edge.answers.usage import HEADERS, caller_of, invalid, parameters_of
from engine.exchange.exchange import Exchange, Handler, Response
from engine.values.usage_query import DEFAULT_REQUESTS, MAX_REQUESTS

_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?Z")
_END = 253_402_300_799.0
"""The end of the year 9999: after all requests."""


def handler(sources: AnswerSources) -> Handler:
    """A handler that answers with the last requests of the caller."""
    usage = sources.usage
    assert usage is not None  # the application always has it

    def handle(exchange: Exchange) -> Response:
        caller, parameters = caller_of(exchange), parameters_of(exchange)
        limit = _limit(parameters.get("limit", str(DEFAULT_REQUESTS)))
        before = _time(parameters["before"]) if "before" in parameters else _END
        return Response(200, list(HEADERS), orjson.dumps(usage.requests(caller, before, limit)))

    return handle


def _limit(text: str) -> int:
    if not re.fullmatch("[0-9]{1,3}", text) or not 1 <= int(text) <= MAX_REQUESTS:
        raise invalid("limit", f"a number from 1 to {MAX_REQUESTS}")
    return int(text)


def _time(text: str) -> float:
    try:
        if not _TIME.fullmatch(text):
            raise ValueError(text)
        return datetime.fromisoformat(text).astimezone(UTC).timestamp()
    except ValueError as error:
        raise invalid("before", "a time like 2027-01-31T12:00:00Z") from error


ANSWER = OwnAnswer(
    name="usage_requests",
    summary="with the last requests of the caller, without their texts",
    handler=handler,
    is_free=True,
)
