"""The alert rules: existing metrics, helpful texts, and cases in which they fire."""

import re
import shutil
import subprocess

import pytest
import yaml

from tests.support import yaml_text
from tests.support.paths import ROOT
from tests.support.promql import wrong

FOLDER = ROOT / "deploy" / "prometheus"
CASES = sorted((ROOT / "tests" / "cases" / "alerts").glob("*.yml"))
GROUPS = yaml_text.load((FOLDER / "alerts.yml").read_text("utf-8"))["groups"]
RULES = {rule["alert"]: rule for group in GROUPS for rule in group["rules"]}

needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="needs Debian's package prometheus"
)


def rule_of(case):
    """The name of the rule of a case: a rule may have several, `Rule-words.yml`."""
    return case.stem.partition("-")[0]


def promtool(*arguments):
    result = subprocess.run(["promtool", *arguments], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("name", RULES)
def test_a_rule_uses_existing_metrics_and_labels(name):
    assert wrong(RULES[name]["expr"]) == []


@pytest.mark.parametrize("name", RULES)
def test_a_rule_has_a_summary_and_instructions(name):
    rule = RULES[name]
    assert rule["labels"]["severity"] in ("page", "ticket")
    assert "for" in rule
    assert len(rule["annotations"]["summary"]) < 120
    assert len(rule["annotations"]["description"]) > 100


@pytest.mark.parametrize("name", RULES)
def test_annotations_use_labels_of_the_result(name):
    rule = RULES[name]
    annotation_labels = set(re.findall(r"\$labels\.(\w+)", str(rule["annotations"])))
    result_labels = {
        label.strip()
        for by in re.findall(r"by \(([^)]*)\)", rule["expr"])
        for label in by.split(",")
    }
    assert annotation_labels <= (result_labels or {"job", "instance"})


def test_every_rule_has_a_case():
    assert {rule_of(case) for case in CASES} == set(RULES)


@needs_promtool
def test_promtool_accepts_the_rules_and_the_example():
    promtool("check", "rules", str(FOLDER / "alerts.yml"))
    promtool("check", "config", str(FOLDER / "prometheus.yml"))


@needs_promtool
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_a_rule_fires_as_its_case_expects(case, tmp_path):
    """Without annotations, which promtool would require in every case."""
    name = rule_of(case)
    bare = {key: value for key, value in RULES[name].items() if key != "annotations"}
    rules, tests = tmp_path / "rules.yml", tmp_path / "tests.yml"
    rules.write_text(yaml.safe_dump({"groups": [{"name": "bare", "rules": [bare]}]}))
    test = promtool_case(name, yaml_text.load(case.read_text("utf-8")))
    tests.write_text(yaml.safe_dump({"rule_files": [str(rules)], "tests": [test]}))
    promtool("test", "rules", str(tests))


def promtool_case(name, case):
    """A case in promtool's format; every series gets the job modelway."""
    labels = {"job": "modelway", "severity": RULES[name]["labels"]["severity"]} | case["labels"]
    return {
        "interval": "1m",
        "input_series": [
            {"series": entry["series"].replace("{", '{job="modelway",'), "values": entry["values"]}
            for entry in case["series"]
        ],
        "alert_rule_test": [
            {"eval_time": case["quiet_at"], "alertname": name, "exp_alerts": []},
            {
                "eval_time": case["rings_at"],
                "alertname": name,
                "exp_alerts": [{"exp_labels": labels}],
            },
        ],
    }
