"""The services of a worker: prepared once before anything is served, then opened in each worker.

Modules that a deployment does not use are not imported.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from engine.app.services.limit_counters import counters_of
from engine.app.services.machine_stores import admission_queues, machine_state
from engine.app.services.plan_needs import is_limited
from engine.app.services.telemetry import WorkerTelemetry
from engine.callers.jwt.identity import revoked_identities
from engine.callers.revocation import RemovedTokens, TokenValidity
from engine.config.config import Config
from engine.config.console import SIGN_IN
from engine.config.prices import prices_of
from engine.exchange.exchange import Observer
from engine.exchange.sign_in import SignIn
from engine.exchange.stage_services import (
    BatchStore,
    ClientSecretKeys,
    RecordedTokens,
    ResponseStore,
    Services,
    SignedTokens,
    UsageSums,
    Warn,
)
from engine.plan.plan import CannotConnect, Plan
from engine.process.channel import Channel
from engine.process.gc_pause import no_collection
from engine.values.counters import Counters

if TYPE_CHECKING:
    from engine.callers.cache import TokenCache


def prepare(config: Config) -> str:
    """Create or upgrade the database's tables and the journal's folder. Returns a warning, or "".

    Raises CannotConnect. A database that is unavailable is only a warning: tokens of the config
    work without it.
    """
    if config.webhooks:
        _prepare_outbox(config)
    if config.stores.records is None:
        return ""
    from engine.app.services import database

    return database.prepare(config.stores.records, config.stores.journal)


def _prepare_outbox(config: Config) -> None:
    """Make the folder of the messages for webhooks. Raises CannotConnect."""
    from engine.app.services.limit_warnings import open_outbox

    try:
        open_outbox(config)
    except OSError as error:
        message = f"events for webhooks cannot be kept: {error} (stores.journal names the folder)"
        raise CannotConnect(message) from error


def services_of(
    plan: Plan,
    telemetry: WorkerTelemetry | None = None,
    ended: RemovedTokens = dict,
    recorder: Channel | None = None,
) -> Services:
    """The services of one worker, to be called in it, after the fork. Raises CannotConnect.

    `telemetry` has the logs and metrics of the worker; the stores add to it. `ended` returns the
    tokens of the config that have been removed from its files since. `recorder` is the channel to
    the process that uses the database; None: this one does.
    """
    config, telemetry = plan.config, telemetry or WorkerTelemetry()
    records = _open_records(plan, telemetry, recorder)
    begin = _exporters(config, telemetry)
    client_secrets = open_client_secrets(config, telemetry)
    counters = counters_of(config, telemetry) if is_limited(plan) else None
    signed_tokens, sign_in = _of_issuers(plan)
    return Services(
        tokens=config.tokens if records.cache is None else records.cache,
        client_secrets=client_secrets,
        signed_tokens=signed_tokens,
        sign_in=sign_in,
        responses=records.responses,
        batches=records.batches,
        usage_sums=records.sums,
        recorded_tokens=records.tokens,
        counters=counters,
        warn=_warn(config, counters, telemetry, recorder),
        allow_uncounted=config.stores.on_store_failure == "allow",
        prices=prices_of(config),
        currency=config.currency,
        token_validity=_token_validity(config, records.cache, ended),
        begin=begin,
        observers=telemetry.observers,
        proxies=config.server.trusted_proxies,
        collectors=telemetry.collectors,
        page=telemetry.page,
        health=telemetry.health,
        queues=admission_queues(plan, telemetry),
        machine=machine_state(config, telemetry),
        background=telemetry.background,
        closing=telemetry.closing,
    )


def _warn(
    config: Config,
    counters: Counters | None,
    telemetry: WorkerTelemetry,
    recorder: Channel | None,
) -> Warn:
    """What is told of limits that are about to end: nothing in a trial. Without a recorder, as
    under another server, this process calls the webhooks itself."""
    if counters is None or not telemetry.background:
        return lambda warning: None
    from engine.app.services.limit_warnings import warnings_of

    try:
        if config.webhooks and recorder is None:
            from engine.app.services.webhooks import start_deliveries

            start_deliveries(config, telemetry)
        return warnings_of(config, counters, telemetry)
    except OSError as error:
        raise CannotConnect(f"events for webhooks cannot be kept: {error}") from error


def run_recorder(config: Config, folder: Path | None, channel: Channel) -> None:
    """Be the recorder of a config that needs one, see `recorder_work.py`."""
    with no_collection(keep=True):  # a tenth of the import of SQLAlchemy would be collections
        from engine.app.services import recorder_work

    recorder_work.run_recorder(config, folder, channel)


class _Records(NamedTuple):
    """What reads the database; None without one."""

    cache: TokenCache | None = None
    responses: ResponseStore | None = None
    batches: BatchStore | None = None
    sums: UsageSums | None = None
    tokens: RecordedTokens | None = None


def _open_records(plan: Plan, telemetry: WorkerTelemetry, recorder: Channel | None) -> _Records:
    """The readers of the database; `telemetry` gets the ledger. Without a recorder, as in a trial
    and under another server, this process uses the database itself."""
    url = plan.config.stores.records
    if url is None:
        return _Records()
    from engine.app.services import records

    if recorder is not None:
        from engine.callers.records import RemoteRecords

        remote = RemoteRecords(recorder)
        cache = records.open_records(plan, telemetry, remote)
        return _Records(cache, remote.responses, remote.batches, remote.sums, remote.tokens)
    from engine.app.services import database

    shipper = database.open_shipper(plan.config, url, telemetry) if telemetry.background else None
    local = database.DatabaseRecords(plan.config, url)
    cache = records.open_records(plan, telemetry, local, shipper)
    return _Records(cache, local.responses, local.batches, local.sums, local.tokens)


def _exporters(config: Config, telemetry: WorkerTelemetry) -> Observer | None:
    """Start the export of metrics, if any; what begins the trace of a request, None without
    traces."""
    begin: Observer | None = None
    if config.telemetry.traces is not None:
        from engine.app.services.exporters import tracing

        begin = tracing(config, config.telemetry.traces, telemetry)
    if config.telemetry.otlp_metrics is not None and telemetry.folder is not None:
        from engine.app.services.exporters import export_metrics

        export_metrics(config.telemetry.otlp_metrics, telemetry.folder, telemetry)
    return begin


def open_client_secrets(config: Config, telemetry: WorkerTelemetry) -> ClientSecretKeys | None:
    """The ring of keys of client secrets, None without keys; `telemetry` gets its counts."""
    if not config.client_secrets.keys:
        return None
    from engine.callers.metrics import client_secret_collector
    from engine.exchange import client_secret_keys

    keys = client_secret_keys.ClientSecretKeys(config.client_secrets.keys)
    telemetry.collectors.append(client_secret_collector(keys))
    return keys


def _of_issuers(plan: Plan) -> tuple[SignedTokens | None, SignIn | None]:
    """The bearers of other issuers' tokens, and the sign-in to the pages; PyJWT is imported for
    them only."""
    config = plan.config
    if not config.jwt:
        return None, None
    from engine.app.services.bearers import bearers_of, key_sets_of

    key_sets = key_sets_of(config.jwt)
    signed_tokens = bearers_of(plan, key_sets, time.time)
    if not config.console.serves(SIGN_IN):
        return signed_tokens, None
    from engine.app.services.sign_in import sign_in_of

    return signed_tokens, sign_in_of(plan, key_sets, time.time)


def _token_validity(
    config: Config, recorded: TokenCache | None, ended: RemovedTokens
) -> TokenValidity | None:
    if not config.stores.end_revoked:
        return None
    ttl, revocations = config.stores.token_ttl, revoked_identities(config.jwt)
    return TokenValidity(config.tokens, recorded, ttl, ended, time.time, revocations)
