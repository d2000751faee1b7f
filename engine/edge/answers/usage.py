"""`answer: usage`: what the caller has used, and what is left of its limits.

The answer has no dialect, and no limit refuses it: who has used up a budget needs it most. It has
the limits and the sums of the caller and of its teams, and nothing of others.
"""

from __future__ import annotations

import re

import orjson

from engine.edge.answers.own_answer import AnswerSources, OwnAnswer
from engine.exchange.exchange import Exchange, Handler, Response
from engine.spec.query_string import Query
from engine.values.errors import GatewayError

_HEADERS = [("content-type", "application/json"), ("cache-control", "no-store")]
MAX_DAYS, DEFAULT_DAYS = 366, 30


def handler(sources: AnswerSources) -> Handler:
    """A handler that answers with the usage of the caller."""
    usage = sources.usage
    assert usage is not None  # the application always has it

    def handle(exchange: Exchange) -> Response:
        if exchange.caller is None:
            message = "Usage is that of a token: send one."
            raise GatewayError(401, "invalid_api_key", message)
        parameters = dict(Query.parse(exchange.query).items()) if exchange.query else {}
        days, of_team = _days(parameters.get("days", "")), _of_team(parameters.get("of", ""))
        return Response(200, list(_HEADERS), orjson.dumps(usage(exchange.caller, days, of_team)))

    return handle


def _days(text: str) -> int:
    if not text:
        return DEFAULT_DAYS
    if not re.fullmatch("[0-9]{1,3}", text) or not 1 <= int(text) <= MAX_DAYS:
        message = f"Invalid value for 'days': expected a number from 1 to {MAX_DAYS}."
        raise GatewayError(400, "invalid_value", message, param="days")
    return int(text)


def _of_team(text: str) -> bool:
    if text not in ("", "token", "team"):
        message = "Invalid value for 'of': expected token or team."
        raise GatewayError(400, "invalid_value", message, param="of")
    return text == "team"


ANSWER = OwnAnswer(
    name="usage",
    summary="with what the caller has used and what is left of its limits",
    handler=handler,
    is_free=True,
    is_for_pages=True,
)
