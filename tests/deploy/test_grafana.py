"""The Grafana dashboard: valid expressions of existing metrics, and a panel for every metric."""

import json
import re
import shutil
import subprocess

import pytest
import yaml

from tests.support.each import each
from tests.support.metrics import METRICS
from tests.support.paths import ROOT
from tests.support.promql import series, vocabulary, wrong

FILE = ROOT / "deploy" / "grafana" / "modelway.json"
DASHBOARD = json.loads(FILE.read_text("utf-8"))
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
EXPRESSIONS = [target["expr"] for panel in PANELS for target in panel["targets"]]
VARIABLES = {variable["name"]: variable for variable in DASHBOARD["templating"]["list"]}


@each("expression", EXPRESSIONS)
def test_an_expression_uses_existing_metrics(expression):
    assert wrong(expression) == []


def test_every_metric_is_on_the_dashboard():
    panel_metrics = {
        series()[name].name for text in EXPRESSIONS for name in vocabulary(text).metrics
    }
    assert {metric.name for metric in METRICS} - panel_metrics == set()


def test_variables_and_annotations_use_existing_metrics():
    queries = [v["query"]["query"] for v in VARIABLES.values() if v["type"] == "query"]
    for query in queries:
        name, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", query).groups()
        assert label in (*series()[name].labels, "instance")
    for annotation in DASHBOARD["annotations"]["list"]:
        assert wrong(annotation["expr"]) == []


def test_the_variables_are_those_that_are_used():
    names = set(re.findall(r"\$\{?(\w+)\}?", FILE.read_text("utf-8")))
    assert names - {"__rate_interval", "labels", "__all"} == set(VARIABLES)


def test_panels_have_unique_ids_and_do_not_overlap():
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    occupied = set()
    for panel in DASHBOARD["panels"]:
        position = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(position["x"], position["x"] + position["w"])
            for y in range(position["y"], position["y"] + position["h"])
        }
        assert position["x"] + position["w"] <= 24
        assert not cells & occupied, panel["title"]
        occupied |= cells


def test_it_can_be_provisioned_with_any_datasource():
    assert DASHBOARD["uid"] == "modelway"
    assert "__inputs" not in DASHBOARD
    uids = {panel["datasource"]["uid"] for panel in PANELS}
    assert uids == {"${datasource}"}


@pytest.mark.skipif(shutil.which("promtool") is None, reason="needs Debian's package prometheus")
def test_promtool_accepts_every_expression(tmp_path):
    rules = [
        {"record": f"panel:{number}", "expr": text.replace("$__rate_interval", "5m")}
        for number, text in enumerate(EXPRESSIONS)
    ]
    file = tmp_path / "rules.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
    result = subprocess.run(
        ["promtool", "check", "rules", file], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
