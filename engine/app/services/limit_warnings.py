"""Where warnings of limits go: the log, the metrics, and the outbox of the webhooks."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import orjson

from engine.app.services.telemetry import WorkerTelemetry
from engine.callers.limits.limit_warnings import LimitWarnings, warning_event, warning_text
from engine.config.config import Config
from engine.process.log_throttle import LogThrottle
from engine.stores.webhooks.outbox import Message, Outbox, OutboxFull
from engine.values.calendar import SECOND, Calendar
from engine.values.counters import Counters, LimitWarning

log = logging.getLogger("modelway")


def open_outbox(config: Config) -> Outbox:
    """The outbox of a config with webhooks, in a folder beside the journal. Raises OSError."""
    return Outbox(config.stores.journal / "webhooks")


def warnings_of(config: Config, counters: Counters, telemetry: WorkerTelemetry) -> LimitWarnings:
    """The warnings of one worker; `telemetry` gets their metrics. Raises OSError if the outbox
    cannot be made."""
    outbox = open_outbox(config) if config.webhooks else None
    report = WarningReport(config.currency, outbox, [*config.webhooks], time.time)
    warnings = LimitWarnings(counters, report)
    telemetry.collectors.append(warnings.collect)
    telemetry.closing.append(warnings.close)
    return warnings


class WarningReport:
    """Logs warnings, and puts their events for the `webhooks` into the `outbox`, None without
    any. Money is in `currency`, `clock` gives Unix seconds."""

    def __init__(
        self,
        currency: str,
        outbox: Outbox | None,
        webhooks: Sequence[str],
        clock: Callable[[], float],
    ) -> None:
        self._currency = currency
        self._outbox = outbox
        self._webhooks = webhooks
        self._clock = clock
        self._throttle = LogThrottle(level=logging.ERROR)

    def prepare(self, warning: LimitWarning) -> Callable[[bool], None]:
        """Write the messages as drafts. The function that is returned sends and logs them, or
        discards them."""
        now = self._clock()
        outbox = self._outbox
        drafts = [] if outbox is None else self._drafts(warning, outbox, now)

        def decide(is_first: bool) -> None:
            for draft in drafts:
                assert outbox is not None
                (outbox.confirm if is_first else outbox.discard)(draft)
            if is_first:
                log.warning("%s", warning_text(warning, self._currency, now))

        return decide

    def _drafts(self, warning: LimitWarning, outbox: Outbox, now: float) -> list[Path]:
        body = orjson.dumps(warning_event(warning, self._currency, now)).decode()
        message_id = event_id(warning, now)
        drafts = []
        for webhook in self._webhooks:
            try:
                drafts.append(outbox.draft(Message(message_id, webhook, body, now)))
            except OutboxFull:
                text = "an event for webhook '%s' is lost: too many wait for it"
                self._throttle.log(text, webhook)
            except OSError as error:
                self._throttle.log("an event for webhook '%s' is lost: %s", webhook, error)
        return drafts


def event_id(warning: LimitWarning, now: float) -> str:
    """The id of an event, by which receivers know it: the same for the same threshold of the same
    window, whichever worker reports it."""
    window = warning.limit.window
    if isinstance(window, Calendar):
        inside = round((now + warning.reset / 2) * SECOND)  # so that clocks may differ a little
        period = window.window(inside)[1]
    else:
        period = int(now / window)
    text = f"{warning.limit.key}\0{warning.percent}\0{period}"
    return f"msg_{hashlib.blake2b(text.encode(), digest_size=16).hexdigest()}"
