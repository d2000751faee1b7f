"""Exchanges that are over, and their lines of the access log."""

from __future__ import annotations

import json

from engine.exchange.outcome import Outcome
from engine.exchange.request_record import Attempt
from engine.telemetry.access_log import AccessLogWriter
from engine.values.caller import Caller
from engine.values.usage import Usage
from tests.support.exchanges import new_exchange


def finished_exchange(**changes):
    """An exchange that is over."""
    fields = {
        "path": "/v1/chat",
        "environ": {
            "REMOTE_ADDR": "10.1.2.3",
            "HTTP_USER_AGENT": "codex_exec/0.171.0 (Debian 13)",
            "HTTP_SESSION_ID": "s1",
        },
        "operation": "openai.chat",
        "model": "gpt",
        "caller": Caller("alice"),
    }
    exchange = new_exchange(**fields | changes)
    record = exchange.record
    record.time, record.usage, record.cost = (
        1_700_000_000.25,
        Usage(3, 4, 1, source="upstream"),
        1_500,
    )
    record.model, record.upstream, record.wait_time, record.duration = "gpt-4", "two", 0.75, 1.0
    record.first_byte = 0.5
    record.attempts = [
        Attempt("one/m", "one", "m", "connect", 0, 0.0, 0.25),
        Attempt("two/n", "two", "n", "", 200, 0.25, 0.25),
    ]
    record.end(200, Outcome.COMPLETE)
    return exchange


def lines_of(exchange, **options):
    lines = []
    options.setdefault("dice", lambda: 0.5)
    log = AccessLogWriter(lines.append, **options)
    log.write([exchange])
    return lines


def row(exchange, **options):
    (line,) = lines_of(exchange, **options)
    return json.loads(line)
