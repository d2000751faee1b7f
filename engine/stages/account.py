"""What came of a request: every one that gets as far as this leaves one row in the ledger."""

from __future__ import annotations

import time

from engine.errors import CallerGone, GatewayError, Malformed
from engine.exchange import Account, Exchange, Handler, Response, Stage
from engine.ledger import Entry
from engine.services import Services


def account(operation: str, services: Services) -> Stage:
    """A stage that keeps `exchange.account`, and writes it down when the exchange ends."""

    def stage(exchange: Exchange, following: Handler) -> Response:
        exchange.operation = operation
        kept = exchange.account
        kept.time, kept.began = services.clock(), time.monotonic()
        if services.ledger is not None:
            exchange.on_end.append(lambda: _write(exchange, services))
        try:
            response = following(exchange)
        except GatewayError as error:
            kept.end(error.status, "failed" if error.status >= 500 else "refused")
            raise
        except Malformed:
            kept.end(400, "refused")
            raise
        except CallerGone:
            session = exchange.traffic
            if session is not None:  # a session always ends like this
                kept.end(101, session.outcome)
            elif not kept.outcome:
                kept.end(499, "caller_left")
            raise
        except BaseException:
            kept.end(500, "failed")
            raise
        if isinstance(response.body, bytes):
            kept.bytes_out = len(response.body)
            kept.end(response.status, _outcome(response.status))
        else:
            kept.status = response.status  # how it ends, whoever makes the body will know
        return response

    return stage


def _outcome(status: int) -> str:
    if status < 400:
        return "complete"
    return "refused" if status < 500 else "failed"


def _end(kept: Account) -> str:
    """How it ended; an error that an upstream said to its end is no less an error."""
    if kept.outcome == "complete":
        return _outcome(kept.status)
    return kept.outcome or "caller_left"


def _write(exchange: Exchange, services: Services) -> None:
    kept, usage = exchange.account, exchange.account.usage
    assert services.ledger is not None
    services.ledger(
        Entry(
            id=exchange.request_id,
            time=kept.time,
            token=exchange.caller.name if exchange.caller is not None else "",
            operation=exchange.operation,
            model_asked=exchange.model,
            model_served=kept.model,
            upstream=kept.upstream,
            status=kept.status,
            outcome=_end(kept),
            input=usage.input,
            output=usage.output,
            cached=usage.cached,
            reasoning=usage.reasoning,
            images=usage.images,
            seconds=usage.seconds,
            characters=usage.characters,
            source=usage.source,
            cost=kept.cost,
            currency=services.currency,
            first_byte=kept.first_byte,
            duration=time.monotonic() - kept.began,
            bytes_in=exchange.body.size,
            bytes_out=kept.bytes_out,
            stream=kept.stream,
            attempts=kept.attempts,
        )
    )
