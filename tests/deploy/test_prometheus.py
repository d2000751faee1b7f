"""A real Prometheus with the shipped config and alerts, in front of a gateway and of itself."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
import yaml

from engine.config.keys import default
from tests.support import yaml_text
from tests.support.paths import ROOT
from tests.support.ports import free_port
from tests.support.recording import ask, recorder, request
from tests.support.running import Running, gateway, start
from tests.support.small import project
from tests.support.waiting import until

FOLDER = ROOT / "deploy" / "prometheus"
PROMETHEUS = shutil.which("prometheus") or ""

pytestmark = pytest.mark.skipif(not PROMETHEUS, reason="needs Debian's package prometheus")


@pytest.fixture
def front(tmp_path: Path) -> Iterator[Running]:
    with recorder() as upstream:
        folder = tmp_path / "gateway"
        folder.mkdir()
        with gateway(folder, project(folder, upstream.url, {"chat": "[]"})) as running:
            yield running


def config(*targets: int) -> str:
    """The shipped config with other targets, which is read often."""
    content = yaml_text.load((FOLDER / "prometheus.yml").read_text("utf-8"))
    content["global"] = {"scrape_interval": "200ms", "evaluation_interval": "200ms"}
    (job,) = content["scrape_configs"]
    job["static_configs"] = [{"targets": [f"127.0.0.1:{port}" for port in targets]}]
    return yaml.safe_dump(content)


def alerts() -> str:
    """The shipped alerts, which do not wait."""
    content = yaml_text.load((FOLDER / "alerts.yml").read_text("utf-8"))
    for group in content["groups"]:
        for rule in group["rules"]:
            rule["for"] = "0s"
    return yaml.safe_dump(content)


def query(port: int, expression: str) -> list[dict[str, str]]:
    """The labels of the series of an expression; none until Prometheus has read its files."""
    answer = ask(port, request(f"/api/v1/query?query={quote(expression)}"))
    if answer.status == 503:
        return []
    return [series["metric"] for series in answer.json()["data"]["result"]]


def instances(port: int, expression: str) -> list[str]:
    """Of the series of an expression. A scrape that came late is of none a moment later."""
    return [labels["instance"] for labels in query(port, expression)]


def test_the_alarm_rings_for_a_port_at_which_something_else_answers(
    tmp_path: Path, front: Running
) -> None:
    """Prometheus scrapes itself in place of a gateway, and another gateway as well."""
    own = free_port()
    (tmp_path / "prometheus.yml").write_text(config(front.telemetry, own))
    (tmp_path / "alerts.yml").write_text(alerts())
    options = [f"--web.listen-address=127.0.0.1:{own}", "--storage.tsdb.path=data"]
    running = start([PROMETHEUS, "--config.file=prometheus.yml", *options], own, tmp_path)
    try:
        firing = 'ALERTS{alertname="ModelwayDown",alertstate="firing"}'
        both_up = 'up{job="modelway"} == 1'
        until(lambda: len(query(own, both_up)) == 2, "two scrapes")
        until(lambda: instances(own, firing) == [f"127.0.0.1:{own}"], "the alarm")
        assert query(own, "modelway_build_info")[0]["instance"] == f"127.0.0.1:{front.telemetry}"
        front.stop()
        until(lambda: len(query(own, firing)) == 2, "the alarm of the gateway that was stopped")
        assert query(own, 'ALERTS{alertname="ModelwayNotScraped"}') == []
    finally:
        running.stop()


def test_the_example_scrapes_the_default_address_which_is_not_that_of_prometheus() -> None:
    content = yaml_text.load((FOLDER / "prometheus.yml").read_text("utf-8"))
    (job,) = content["scrape_configs"]
    assert job["job_name"] == "modelway"
    assert job["static_configs"] == [{"targets": [default("telemetry.listen")]}]
    assert not default("telemetry.listen").endswith(":9090")
