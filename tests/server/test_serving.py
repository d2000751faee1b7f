"""The application of one worker: built with its telemetry, and out of the garbage collector."""

import gc
import os

import gevent
import pytest
from falcon.testing import TestClient

from engine.process.gc_when_idle import MAX_NEW
from engine.server.serving import metrics_folder, serving
from engine.telemetry.health import ConfigStatus
from tests.support.rehearsing import CONFIG, planned
from tests.support.waiting import until


@pytest.fixture
def garbage_collector():
    """What `serving` changes in this process, undone."""
    threshold = gc.get_threshold()
    yield
    gc.set_threshold(*threshold)
    gc.unfreeze()


@pytest.fixture
def application(tmp_path, garbage_collector):
    """Makes the application of a config, and closes it."""
    applications = []

    def make(source=None):
        status = ConfigStatus(source=source)
        applications.append(serving(planned(tmp_path).plan, None, status, []))
        return applications[-1]

    yield make
    for each_application in applications:
        each_application.close()


def test_garbage_is_collected_when_the_worker_is_idle(application):
    app = application()
    garbage = [[] for _ in range(2_000)]
    until(lambda: gc.get_count()[0] < len(garbage), sleep=gevent.sleep)
    app.close()


def details_of(app):
    """What operators see of the config on the page of readiness."""
    client = TestClient(app.telemetry)
    return client.simulate_get("/readyz", remote_addr="127.0.0.1").json["config"]


def test_the_application_is_frozen_for_the_garbage_collector(application):
    application()
    assert gc.get_freeze_count() > 0
    assert gc.get_threshold()[0] == MAX_NEW


def test_the_page_of_readiness_shows_the_config_that_the_source_tells(application):
    app = application(lambda: ("0123abcd", 5.0, "a reload failed"))
    details = details_of(app)
    assert (details["hash"], details["last_reload_error"]) == ("0123abcd", "a reload failed")


def test_there_is_no_folder_without_metrics(tmp_path):
    plan = planned(tmp_path, f"{CONFIG}telemetry: {{metrics: false}}\n").plan
    assert metrics_folder(plan, os.getpid()) is None


def test_the_folder_of_metrics_is_that_of_the_master(tmp_path):
    folder = metrics_folder(planned(tmp_path).plan, os.getpid())
    assert f"-{os.getpid()}-" in folder.name
    folder.rmdir()
