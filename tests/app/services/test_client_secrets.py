"""The ring of keys of a worker, and its metric."""

from __future__ import annotations

from engine.app.services.client_secrets import open_keys
from engine.app.services.telemetry import WorkerTelemetry
from engine.callers.metrics import CLIENT_SECRETS
from engine.config.client_secrets import ClientSecrets
from engine.exchange.client_secret import ClientSecret
from engine.values.caller import digest


def test_the_keys_of_the_config_are_collected() -> None:
    telemetry = WorkerTelemetry()
    keys = open_keys(ClientSecrets(("0123456789abcdef" * 2,)), telemetry)
    secret = ClientSecret(digest("mw-a"), 1.0, "m", {"type": "realtime"})
    assert keys.open(keys.seal(secret))._replace(id="") == secret
    keys.issued, keys.accepted, keys.expired, keys.invalid = 4, 3, 2, 1
    (collect,) = telemetry.collectors
    assert {labels: value for metric, labels, value in collect() if metric is CLIENT_SECRETS} == {
        ("issued",): 4,
        ("accepted",): 3,
        ("expired",): 2,
        ("invalid",): 1,
    }
