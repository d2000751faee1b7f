"""`answer: usage`: what the caller has used, and what is left of its limits.

The answer has no dialect, and no limit refuses it: who has used up a budget needs it most. It has
the limits and the sums of the caller and of its teams, and nothing of others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime

import orjson

from engine.edge.answers.own_answer import AnswerSources, OwnAnswer
from engine.exchange.exchange import Exchange, Handler, Response
from engine.spec.parameters.query_string import Query
from engine.stores.usage_query import DEFAULT_DAYS, MAX_DAYS, TAG, UsageQuery
from engine.values.caller import Caller
from engine.values.errors import GatewayError, invalid_value

HEADERS = [("content-type", "application/json"), ("cache-control", "no-store")]
_EPOCH = date(1970, 1, 1)
_DAY = 86_400


def handler(sources: AnswerSources) -> Handler:
    """A handler that answers with the usage of the caller."""
    usage, clock = sources.usage, sources.clock
    assert usage is not None  # the application always has it

    def handle(exchange: Exchange) -> Response:
        caller, today = caller_of(exchange), int(clock()) // _DAY
        query = _query(parameters_of(exchange), today)
        return Response(200, list(HEADERS), orjson.dumps(usage.sums(caller, query)))

    return handle


def caller_of(exchange: Exchange) -> Caller:
    """The caller of a request. Raises GatewayError: 401 without one, whatever the operation asks
    for."""
    if exchange.caller is None:
        raise GatewayError(401, "invalid_api_key", "Usage is that of a token: send one.")
    return exchange.caller


def parameters_of(exchange: Exchange) -> Mapping[str, str]:
    """The parameters of the query; an empty one is left out."""
    items = Query.parse(exchange.query).items() if exchange.query else ()
    return {name: value for name, value in items if value}


def _query(parameters: Mapping[str, str], today: int) -> UsageQuery:
    of = parameters.get("of", "token")
    if of not in ("token", "team"):
        raise invalid_value("of", "token or team")
    by = parameters.get("by", "")
    if by not in ("", "day", "model") and not by.startswith(TAG):
        raise invalid_value("by", "day, model or tag:NAME")
    first, last = _days(parameters, today)
    return UsageQuery(first, last, by, of == "team")


def _days(parameters: Mapping[str, str], today: int) -> tuple[int, int]:
    """The first and the last day, in days since 1970: of `from` and `to`, or of `days`."""
    if "days" in parameters and "from" in parameters:
        raise invalid_value("days", "nothing beside 'from'")
    last = min(_day("to", parameters["to"]), today) if "to" in parameters else today
    if "from" in parameters:
        first = _day("from", parameters["from"])
        if not first <= last < first + MAX_DAYS:
            raise invalid_value("from", f"the day 'to' or one of the {MAX_DAYS - 1} days before it")
        return first, last
    days = parameters.get("days", str(DEFAULT_DAYS))
    if not re.fullmatch("[0-9]{1,3}", days) or not 1 <= int(days) <= MAX_DAYS:
        raise invalid_value("days", f"a number from 1 to {MAX_DAYS}")
    return last - int(days) + 1, last


def _day(name: str, text: str) -> int:
    """The days since 1970 of a date like 2027-01-31."""
    try:
        if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
            raise ValueError(text)
        day = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).date()
    except ValueError as error:
        raise invalid_value(name, "a day like 2027-01-31") from error
    return (day - _EPOCH).days


ANSWER = OwnAnswer(
    name="usage",
    summary="with what the caller has used and what is left of its limits",
    handler=handler,
    is_free=True,
    is_for_pages=True,
)
