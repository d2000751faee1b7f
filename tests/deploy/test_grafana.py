"""The Grafana dashboard: every expression is of metrics that there are, and Prometheus reads it."""

import json
import re
import shutil
import subprocess

import pytest
import yaml

from tests.support.each import each
from tests.support.metrics import METRICS
from tests.support.paths import ROOT
from tests.support.promql import named, series, wrong

FILE = ROOT / "deploy" / "grafana" / "modelway.json"
DASHBOARD = json.loads(FILE.read_text("utf-8"))
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
EXPRESSIONS = [target["expr"] for panel in PANELS for target in panel["targets"]]
VARIABLES = {variable["name"]: variable for variable in DASHBOARD["templating"]["list"]}


@each("expression", EXPRESSIONS)
def test_an_expression_names_what_there_is(expression):
    assert wrong(expression) == []


def test_every_metric_is_on_the_dashboard():
    shown = {series()[name].name for text in EXPRESSIONS for name in named(text).metrics}
    assert {metric.name for metric in METRICS} - shown == set()


def test_variables_and_annotations_are_of_what_there_is():
    found = [v["query"]["query"] for v in VARIABLES.values() if v["type"] == "query"]
    for query in found:
        name, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", query).groups()
        assert label in (*series()[name].labels, "instance")
    for annotation in DASHBOARD["annotations"]["list"]:
        assert wrong(annotation["expr"]) == []


def test_every_variable_that_is_used_is_there_and_the_other_way_round():
    used = set(re.findall(r"\$\{?(\w+)\}?", FILE.read_text("utf-8")))
    assert used - {"__rate_interval", "labels", "__all"} == set(VARIABLES)


def test_panels_have_ids_of_their_own_and_do_not_lie_on_each_other():
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    taken = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert at["x"] + at["w"] <= 24
        assert not cells & taken, panel["title"]
        taken |= cells


def test_it_can_be_provisioned_with_any_datasource():
    assert DASHBOARD["uid"] == "modelway"
    assert "__inputs" not in DASHBOARD
    uids = {panel["datasource"]["uid"] for panel in PANELS}
    assert uids == {"${datasource}"}


@pytest.mark.skipif(shutil.which("promtool") is None, reason="needs Debian's package prometheus")
def test_prometheus_reads_every_expression(tmp_path):
    rules = [
        {"record": f"panel:{number}", "expr": text.replace("$__rate_interval", "5m")}
        for number, text in enumerate(EXPRESSIONS)
    ]
    file = tmp_path / "rules.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
    done = subprocess.run(
        ["promtool", "check", "rules", file], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
