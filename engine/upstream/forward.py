"""Sending a request on to the first target that can be reached, and its answer back."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import orjson

from engine.dialects import Dialect
from engine.exchange import Exchange, Handler, Response
from engine.relay.headers import Forwarded
from engine.spec.expression import Expression
from engine.upstream.client import Answer
from engine.upstream.failures import UpstreamFailure
from engine.upstream.reply import failed, reply
from engine.upstream.target import Target, Upstream

USER_AGENT = "modelway"


def forward(
    expression: Expression | None,
    fixed: Sequence[Target],
    dialect: Dialect,
    upstreams: Sequence[Upstream],
    declared: Sequence[str] = (),
) -> Handler:
    """A handler that sends the exchange to one of its targets, or of the `fixed` ones.

    Headers that the document declares as parameters pass beside those of dialect and upstream.
    Raises GatewayError 502 or 504 when none answers.
    """
    needed = (*_named(expression), *declared)
    headers = {u.name: u.headers(dialect.request_headers, needed) for u in upstreams}

    def handle(exchange: Exchange) -> Response:
        failures: list[UpstreamFailure] = []
        for target in exchange.targets or fixed:
            try:
                answer = _attempt(target, expression, headers[target.upstream.name], exchange)
            except UpstreamFailure as failure:
                failures.append(failure)
                if failure.answered:
                    break
                continue
            exchange.on_end.append(answer.close)
            upstream = target.upstream
            answer.headers = [pair for pair in answer.headers if not upstream.betrays(pair[1])]
            return reply(answer, exchange, dialect)
        raise failed(failures[-1])

    return handle


def _named(expression: Expression | None) -> tuple[str, ...]:
    """The header that names the model, if one does: it has to pass."""
    return expression.steps if expression is not None and expression.place == "header" else ()


def _attempt(
    target: Target, expression: Expression | None, headers: Forwarded, exchange: Exchange
) -> Answer:
    """Send the exchange to one target, in its own name for the model, with our credential."""
    sent = exchange
    if expression is not None:
        sent = _renamed(exchange, expression, target.model)
    upstream = target.upstream
    query = upstream.query(sent.query)
    path = upstream.client.base_path + sent.path[len(sent.mount) :]
    fields = [
        *headers.pick(sent.environ),
        ("accept-encoding", "identity"),
        ("user-agent", USER_AGENT),
        ("x-request-id", exchange.request_id),
    ]
    credential = upstream.credential
    if credential is not None and credential.kind == "header":
        fields = [pair for pair in fields if pair[0] != credential.name]
        fields.append((credential.name, credential.value))
    body = sent.body if sent.body.size or sent.method != "GET" else None
    whole = body.whole if body is not None else None
    return upstream.client.send(
        sent.method, f"{path}?{query}" if query else path, fields, body if whole is None else whole
    )


def _renamed(exchange: Exchange, expression: Expression, model: str) -> Exchange:
    """The exchange with the target's own name for the model, or with the default written in."""
    name = model or exchange.model
    if expression.says(exchange, name):
        return exchange
    renamed = copy.copy(exchange)
    expression.replace(renamed, exchange.model_at, name)
    if exchange.repeats:
        written = [(s, e, orjson.dumps(before + name)) for s, e, before in exchange.repeats]
        renamed.body = exchange.body.with_replaced(*written)
    return renamed
