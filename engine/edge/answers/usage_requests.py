"""`answer: usage_requests`: the last requests of the caller, without their texts.

Like `usage`, it has no dialect, no limit refuses it, and it has nothing of others.
"""

from __future__ import annotations

import re

import orjson

from engine.edge.answers.own_answer import AnswerSources, OwnAnswer
from engine.edge.answers.usage import HEADERS, caller_of, parameters_of
from engine.exchange.exchange import Exchange, Handler, Response
from engine.stores.usage_query import DEFAULT_REQUESTS, MAX_REQUESTS
from engine.values.errors import invalid_value

_ID = re.compile(r"[\x21-\x7e]{1,256}")


def handler(sources: AnswerSources) -> Handler:
    """A handler that answers with the last requests of the caller."""
    usage = sources.usage
    assert usage is not None  # the application always has it

    def handle(exchange: Exchange) -> Response:
        caller, parameters = caller_of(exchange), parameters_of(exchange)
        limit = _limit(parameters.get("limit", str(DEFAULT_REQUESTS)))
        after = _id(parameters["after"]) if "after" in parameters else ""
        return Response(200, list(HEADERS), orjson.dumps(usage.requests(caller, after, limit)))

    return handle


def _limit(text: str) -> int:
    if not re.fullmatch("[0-9]{1,3}", text) or not 1 <= int(text) <= MAX_REQUESTS:
        raise invalid_value("limit", f"a number from 1 to {MAX_REQUESTS}")
    return int(text)


def _id(text: str) -> str:
    if not _ID.fullmatch(text):
        raise invalid_value("after", "the id of a request")
    return text


ANSWER = OwnAnswer(
    name="usage_requests",
    summary="with the last requests of the caller, without their texts",
    handler=handler,
    is_free=True,
    is_for_pages=True,
)
