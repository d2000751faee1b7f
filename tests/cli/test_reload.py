"""`modelway reload`: the signal to a running gateway, and its answer."""

import json
import shutil
import signal
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from engine.plan.assembly.make_plan import make_plan
from engine.process.runtime_dir import runtime_directory
from engine.server.master_state import Phase, WorkerState
from engine.server.reload import Plans
from tests.support.commands import assert_refused, modelway

CONFIG = Path("gateway.yaml")


@pytest.fixture
def plans(folder):
    """What a gateway in this process serves and publishes."""
    run = runtime_directory(CONFIG)
    served = Plans(make_plan(CONFIG, {}), lambda: make_plan(CONFIG, {}), run, lambda *_: "")
    served.publish()
    yield served
    shutil.rmtree(run)


@pytest.fixture
def on_signal(plans):
    """Let the gateway publish a changed state when it gets SIGHUP."""
    before = signal.getsignal(signal.SIGHUP)

    def register(**changes):
        def publish(*_):
            plans.state = replace(plans.state, **{"tried": plans.state.tried + 1, **changes})
            plans.publish()

        signal.signal(signal.SIGHUP, publish)

    yield register
    signal.signal(signal.SIGHUP, before)


def test_the_config_that_is_in_use_is_printed(on_signal):
    on_signal(hash="0123abcd")
    result = modelway("reload")
    assert (result.exit_code, result.stdout) == (0, "config 0123abcd is now in use\n")


def test_json_has_the_state_of_each_gateway(on_signal):
    on_signal(hash="0123abcd", workers=(WorkerState(5, "0123abcd", Phase.STARTS, 0.0),))
    (gateway,) = json.loads(modelway("reload", "--json").stdout)["gateways"]
    assert (gateway["config"], gateway["error"]) == ("0123abcd", None)
    assert gateway["workers"] == [
        {
            "pid": 5,
            "heavy": False,
            "config": "0123abcd",
            "phase": "starting",
            "since": "1970-01-01T00:00:00Z",
            "error": None,
        }
    ]


def test_a_clock_that_was_set_back_does_not_delay_the_answer(on_signal, plans):
    plans.state = replace(plans.state, tried=plans.state.tried + 3600)
    plans.publish()
    on_signal(hash="0123abcd", tried=plans.state.tried - 3600)
    assert modelway("reload").stdout == "config 0123abcd is now in use\n"


def test_it_prints_the_state_of_each_worker(on_signal):
    workers = (
        WorkerState(11, "0123abcd", Phase.SERVES, 0.0),
        WorkerState(12, "0123abcd", Phase.FAILED, 1.0, "no journal"),
        WorkerState(9, "ffff", Phase.ENDS, 2.0),
        WorkerState(13, "0123abcd", Phase.SERVES, 0.0, is_heavy=True),
    )
    on_signal(hash="0123abcd", workers=workers)
    assert modelway("reload").stdout.splitlines() == [
        "config 0123abcd is now in use",
        "  worker 11  config 0123abcd  serves since 1970-01-01T00:00:00Z",
        "  worker 12  config 0123abcd  failed since 1970-01-01T00:00:01Z: no journal",
        "  worker 9  config ffff  finishing its requests since 1970-01-01T00:00:02Z",
        "  heavy worker 13  config 0123abcd  serves since 1970-01-01T00:00:00Z",
    ]


def test_a_refusal_prints_the_config_that_workers_still_serve(on_signal):
    on_signal(error="no journal", workers=(WorkerState(9, "ffff", Phase.SERVES, 0.0),))
    result = modelway("reload")
    assert (result.exit_code, result.stderr) == (1, "Error: no journal\n")
    assert result.stdout == "  worker 9  config ffff  serves since 1970-01-01T00:00:00Z\n"


def test_a_gateway_that_stops_is_not_reloaded(plans):
    plans.report([WorkerState(9, "ffff", Phase.ENDS, 0.0)])
    assert_refused(modelway("reload"), "no running gateway")  # SIGHUP would have ended this process


def test_the_reason_of_a_refusal_is_printed(on_signal):
    on_signal(error="the database is gone")
    assert_refused(modelway("reload"), "the database is gone")


def test_a_config_with_errors_sends_no_signal(plans):
    CONFIG.write_text(Path("bad.yaml").read_text())
    assert modelway("reload").exit_code == 1  # SIGHUP would have ended this process


def test_without_a_running_gateway_it_fails(folder):
    assert_refused(modelway("reload"), "no running gateway of this user serves gateway.yaml")


def test_a_gateway_that_ends_before_the_signal_is_reported(plans, monkeypatch):
    process = subprocess.Popen(["/bin/true"])
    process.wait()

    def kill(*_):
        plans.state = replace(plans.state, pid=process.pid)
        plans.publish()
        raise ProcessLookupError

    monkeypatch.setattr("engine.cli.reload.os", SimpleNamespace(kill=kill))
    assert_refused(modelway("reload"), "has ended")


def test_a_gateway_that_died_is_not_running(plans):
    process = subprocess.Popen(["/bin/true"])
    process.wait()
    plans.state = replace(plans.state, pid=process.pid)
    plans.publish()
    assert_refused(modelway("reload"), "no running gateway")
