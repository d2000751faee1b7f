"""The services of a worker."""

from __future__ import annotations

import subprocess
import sys

from msgspec.structs import replace

from engine.app.services.telemetry import WorkerTelemetry
from engine.app.services.worker_services import open_client_secrets, prepare
from engine.callers.metrics import CLIENT_SECRETS
from engine.config.client_secrets import ClientSecrets
from engine.exchange.client_secret import ClientSecret
from engine.values.caller import digest
from tests.support.paths import ROOT
from tests.support.running import ALL


def test_without_stores_there_is_nothing_but_the_tokens(config, opened):
    settings = config("")
    assert prepare(settings) == ""
    services = opened(settings)
    assert services.tokens.get(digest(ALL)).name == "everything"
    assert (services.counters, list(services.observers)) == (None, [])
    assert not services.allow_uncounted


def test_the_keys_of_client_secrets_are_collected(config):
    telemetry = WorkerTelemetry()
    secrets = ClientSecrets(("0123456789abcdef" * 2,))
    keys = open_client_secrets(replace(config(""), client_secrets=secrets), telemetry)
    assert keys is not None
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


_RECORDER = """
import gc
from engine.app.services import worker_services

def count(phase, info):
    counts["start"] += phase == "start"

counts = {"start": 0}
gc.callbacks.append(count)
try:
    worker_services.run_recorder(None, None, None)  # it ends when it reads the config
except AttributeError:
    print(counts["start"], gc.get_freeze_count() > 10_000)
"""


def test_the_import_of_the_recorder_collects_no_garbage():
    command = [sys.executable, "-c", _RECORDER]
    process = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert process.stdout == "0 True\n"
