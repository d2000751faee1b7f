"""The client secrets of a worker: the ring of keys, and its metric."""

from __future__ import annotations

from engine.app.services.telemetry import WorkerTelemetry
from engine.callers.metrics import client_secret_collector
from engine.config.client_secrets import ClientSecrets
from engine.exchange.client_secret_keys import ClientSecretKeys


def open_keys(config: ClientSecrets, telemetry: WorkerTelemetry) -> ClientSecretKeys:
    """The ring of keys; `telemetry` gets the collector of its counts."""
    keys = ClientSecretKeys(config.keys)
    telemetry.collectors.append(client_secret_collector(keys))
    return keys
