"""The report of operations: how often it is made, and what it has."""

import json
import re
from functools import partial

import pytest
from falcon.testing import TestClient
from msgspec.structs import replace

from engine.app.services.worker_services import services_of
from engine.console.activity.metrics_change import MetricsChange, Snapshot, parse_samples
from engine.console.operations.report import OperationsReport, failures, queues, targets
from engine.telemetry.health import ConfigStatus, Health
from engine.telemetry.metrics.requests import ATTEMPTS, REFUSALS
from engine.upstream.admission import upstream_gates as admission
from engine.upstream.health import watched_target as health
from engine.upstream.targets import metrics as upstreams
from tests.support.metrics import MetricsPage
from tests.support.project_app import ProjectApp
from tests.support.rehearsing import CONFIG, planned


@pytest.fixture
def metrics():
    return MetricsPage()


@pytest.fixture
def times():
    return [100.0]


@pytest.fixture
def report(tmp_path, metrics, times):
    plan = planned(tmp_path, CONFIG).plan
    pages = []

    def page():
        pages.append(1)
        return metrics.text().encode()

    health = Health(ConfigStatus("abc", 5.0, "gateway.yaml:3:1: no"), version="1.2")
    services = replace(services_of(plan), page=page, health=health)
    make = OperationsReport(plan, services, lambda: times[0])

    def read(after=0.0):
        times[0] += after
        return json.loads(make())

    read.pages = pages
    return read


def test_rates_are_those_since_the_report_before(report, metrics):
    assert report()["metrics"]["figures"] is None
    for _ in range(4):
        metrics.request()
    figures = report(after=2.0)["metrics"]["figures"]
    assert (figures["requests"], figures["seconds"]) == (2.0, 2.0)
    assert figures["duration"][0] <= figures["duration"][1] <= figures["duration_p99"]


def test_within_a_second_it_is_made_once(report):
    for after in (0.0, 0.4, 0.4):
        report(after)
    assert len(report.pages) == 1
    report(0.4)
    assert len(report.pages) == 2


def test_a_report_of_long_ago_is_not_compared(report, metrics):
    report()
    metrics.request()
    assert report(after=3600.0)["metrics"]["figures"] is None


def test_it_has_the_config_and_its_problem(report):
    answer = report()
    assert (answer["version"], answer["config"]["hash"]) == ("1.2", "abc")
    assert answer["config"]["last_reload_error"] == "gateway.yaml:3:1: no"


def test_without_metrics_the_rest_is_there(tmp_path):
    plan = planned(tmp_path, CONFIG).plan
    answer = json.loads(OperationsReport(plan, replace(services_of(plan), page=None))())
    assert answer["metrics"] is None
    assert answer["tokens"]["config"] == len(plan.config.tokens)


def test_what_fails_most_now_is_first():
    metrics = MetricsPage()
    metrics[REFUSALS].labels("chat", "rate_limited").inc(50)
    before = Snapshot(0.0, parse_samples(metrics.text()))
    metrics[ATTEMPTS].labels("main", "429").inc(4)
    metrics.request(outcome="failed")
    metrics.request(outcome="refused")
    metrics.request()
    change = MetricsChange(before, Snapshot(2.0, parse_samples(metrics.text())))
    rows = [(row["of"], row["kind"], row["rate"], row["total"]) for row in failures(change)]
    assert rows == [
        ("attempt", "main: 429", 2.0, 4.0),
        ("attempt", "openai: 5xx", 1.0, 2.0),
        ("request", "failed", 0.5, 1.0),
        ("refusal", "rate_limited", 0.0, 50.0),
    ]


def change(metrics):
    snapshot = Snapshot(1.0, parse_samples(metrics.text()))
    return MetricsChange(snapshot, snapshot)


def test_targets_have_a_breaker_and_their_health():
    metrics = MetricsPage()
    for name, state in (("a", 0), ("b", 2)):
        metrics[upstreams.BREAKER].labels("main", name).set(state)
    metrics[health.HEALTH].labels("main", "c").set(4)
    rows = [(row["target"], row["breaker"], row["health"]) for row in targets(change(metrics))]
    assert rows == [("b", "open", "in"), ("c", "closed", "ejected"), ("a", "closed", "in")]


def test_queues_have_the_longest_first():
    metrics = MetricsPage()
    for name, waiting in (("a", 0), ("b", 3)):
        metrics[admission.IN_FLIGHT].labels("main", name).set(2)
        metrics[admission.BOUND].labels("main", name).set(2)
        metrics[admission.WAITING].labels("main", name).set(waiting)
    rows = [
        (row["target"], row["in_flight"], row["bound"], row["waiting"])
        for row in queues(change(metrics))
    ]
    assert rows == [("b", 2, 2, 3), ("a", 2, 2, 0)]


def client(folder, more=""):
    app = ProjectApp(folder, f"{CONFIG}telemetry: {{{more}}}\n").app.telemetry
    return partial(TestClient(app).simulate_get, extras={"REMOTE_ADDR": "127.0.0.1"})


def test_every_file_that_it_loads_is_served(tmp_path):
    listener = client(tmp_path)
    html = listener("/operations").text
    found = re.findall(r'(?:src|href)="(operations/[^"]+)"', html)
    assert len(found) > 4
    for name in found:
        answer = listener(f"/{name}")
        assert answer.status_code == 200, name
        for other in re.findall(r'from "(\.\.?/[^"]+)"', answer.text):
            folder = name.rpartition("/")[0]
            path = f"{folder}/{other}".replace("/./", "/")
            path = re.sub(r"/[^/]+/\.\./", "/", path)
            assert listener(f"/{path}").status_code == 200, other


def test_it_has_the_policy_of_the_console(tmp_path):
    listener = client(tmp_path)
    for path in ("/operations", "/operations.json"):
        headers = listener(path).headers
        assert "script-src 'self'" in headers["content-security-policy"]
    assert listener("/operations.json").headers["cache-control"] == "no-store"


def test_it_can_be_switched_off(tmp_path):
    listener = client(tmp_path, "operations: false")
    for path in ("/operations", "/operations.json", "/operations/page/style.css"):
        assert listener(path).status_code == 404


def test_it_is_for_those_who_may_read_the_metrics(tmp_path):
    listener = client(tmp_path, "allow_ips: [10.0.0.0/8]")
    refusal = listener("/operations.json")
    assert refusal.status_code == 403
    assert "telemetry.allow_ips" in refusal.json["error"]["message"]
