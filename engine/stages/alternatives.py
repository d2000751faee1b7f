"""Chooses among the operations of a document for one method and path, its alternatives: a request
belongs to the first that accepts it.

What the head decides comes before the body: the token, the parameters, the Content-Type. If one
alternative is left, its own stages do the rest. Otherwise the body is received once, and each of
them judges it once, by the document: also one whose route refuses nothing (`validate: off` or
`report`), which serves what no alternative accepts. Without such a route, the refusal is that of
the nearest alternative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from engine.edge.path_operations import Candidate
from engine.exchange.environ_headers import wants_websocket
from engine.exchange.exchange import Exchange, Handler, Response, Stage
from engine.exchange.request_body import Body, ReceivedBody
from engine.stages.alternative_operation import TOKEN, Alternative, Entry, Explain, Trial
from engine.values.errors import GatewayError

MAX_TRIALS = 16
"""Alternatives that judge one body: the first of those that the head leaves."""

_BY_DOCUMENT = (400, 415)
"""The statuses of refusals by a document."""


def refusing(error: GatewayError) -> Stage:
    """A stage that refuses every request."""

    def refuse(exchange: Exchange, following: Handler) -> Response:
        raise error

    return refuse


class Choice:
    """Chooses for one request: `stage` finds the alternative and `handler`, behind it, serves it.
    `alternative_of` returns the alternative with the id of an operation.

    The stage raises GatewayError, the refusal of the nearest candidate, if none accepts the
    request.
    """

    def __init__(
        self, candidates: Sequence[Candidate], alternative_of: Callable[[str], Alternative]
    ) -> None:
        self._alternatives = [(alternative_of(c.resource.operation), c) for c in candidates]
        self._chosen: Handler | None = None

    def handler(self, exchange: Exchange) -> Response:
        assert self._chosen is not None
        return self._chosen(exchange)

    def stage(self, exchange: Exchange, following: Handler) -> Response:
        trials = [Trial(*pair, n, exchange) for n, pair in enumerate(self._in_order(exchange))]
        entries: dict[Stage, Entry] = {}
        refusals: list[Explain] = []
        accepting = [*_accepting(trials, lambda trial: trial.judge_head(entries), refusals)]
        tolerant = next((t for t in trials if t.is_tolerant), None)
        if len(accepting) == 1 and tolerant in (None, accepting[0]):
            return self._serve_unjudged(accepting[0], exchange, following)
        if accepting:
            body, trials = _received(exchange), accepting[:MAX_TRIALS]
            by_body = _accepting(trials, lambda trial: trial.judge_body(body), refusals)
            if (trial := next(by_body, None)) is not None:
                return self._serve_judged(trial, exchange, following, body, len(trials) > 1)
        if tolerant is not None:
            return self._serve_unjudged(tolerant, exchange, following)
        nearest = max((explain_() for explain_ in refusals), key=lambda refusal: refusal[:4])
        exchange.operation = nearest.alternative.operation.id
        if nearest.part == TOKEN:
            raise nearest.error
        error = self._naming(exchange.operation, nearest.error)
        self._chosen = nearest.alternative.refusal(error)
        return following(exchange)

    def _in_order(self, exchange: Exchange) -> list[tuple[Alternative, Candidate]]:
        """The alternatives; the WebSockets first if the request is one, else last."""
        is_handshake = wants_websocket(exchange.environ)
        return sorted(
            self._alternatives, key=lambda pair: pair[0].operation.websocket is not is_handshake
        )

    def _serve_judged(
        self, trial: Trial, exchange: Exchange, following: Handler, body: Body, by_body: bool
    ) -> Response:
        """Serve a request that an alternative has accepted. `by_body`: others might have, because
        of what the body says, which must then say the same to every parser."""
        error = trial.ambiguity() if by_body and not trial.is_tolerant else None
        trial.become_judged(exchange, body)
        alternative = trial.alternative
        self._chosen = alternative.refusal(error) if error is not None else alternative.judged
        return following(exchange)

    def _serve_unjudged(self, trial: Trial, exchange: Exchange, following: Handler) -> Response:
        """Serve the request by all stages of a route: those that judge it have not run."""
        trial.become(exchange)
        self._chosen = trial.alternative.handler
        try:
            return following(exchange)
        except GatewayError as error:
            raise self._naming(exchange.operation, error) from error

    def _naming(self, operation: str, error: GatewayError) -> GatewayError:
        """The error, which says of which operation it is if that is not known from the path."""
        if error.status in _BY_DOCUMENT:
            count = len(self._alternatives)
            error.message = error.message.rstrip(".")
            error.message += f". Of the {count} operations here, '{operation}' is the nearest."
        return error


def _accepting(
    trials: Sequence[Trial],
    judge: Callable[[Trial], Explain | None],
    refusals: list[Explain],
) -> Iterator[Trial]:
    """The trials that accept a part of the request; the refusals of the others are added."""
    for trial in trials:
        refusal = judge(trial)
        if refusal is None:
            yield trial
        else:
            refusals.append(refusal)


def _received(exchange: Exchange) -> Body:
    """The body, which later stages receive once more."""
    body = exchange.body_reader.receive()
    if body.in_memory is None:
        exchange.on_end.append(body.close)
    exchange.body = body  # its size is logged
    exchange.body_reader = ReceivedBody(body, exchange.body_reader.max_size)
    return body
