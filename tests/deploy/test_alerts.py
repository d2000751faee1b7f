"""The alert rules: of metrics there are, with words that help; they ring when they should."""

import re
import shutil
import subprocess

import pytest
import yaml

from tests.support.paths import ROOT
from tests.support.promql import wrong

HERE = ROOT
FOLDER = HERE / "deploy" / "prometheus"
CASES = sorted((HERE / "tests" / "cases" / "alerts").glob("*.yml"))
GROUPS = yaml.safe_load((FOLDER / "alerts.yml").read_text("utf-8"))["groups"]
RULES = {rule["alert"]: rule for group in GROUPS for rule in group["rules"]}

needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="needs Debian's package prometheus"
)


def promtool(*arguments):
    done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_of_metrics_and_labels_that_there_are(name):
    assert wrong(RULES[name]["expr"]) == []


@pytest.mark.parametrize("name", RULES)
def test_a_rule_says_what_is_wrong_and_what_to_do(name):
    rule = RULES[name]
    assert rule["labels"]["severity"] in ("page", "ticket")
    assert "for" in rule
    assert len(rule["annotations"]["summary"]) < 120
    assert len(rule["annotations"]["description"]) > 100


@pytest.mark.parametrize("name", RULES)
def test_words_use_labels_that_the_rule_keeps(name):
    rule = RULES[name]
    used = set(re.findall(r"\$labels\.(\w+)", str(rule["annotations"])))
    kept = {
        label.strip()
        for by in re.findall(r"by \(([^)]*)\)", rule["expr"])
        for label in by.split(",")
    }
    assert used <= (kept or {"job", "instance"})


def test_every_rule_has_a_case_in_which_it_rings():
    assert {case.stem for case in CASES} == set(RULES)


@needs_promtool
def test_prometheus_takes_the_rules_and_the_example():
    promtool("check", "rules", str(FOLDER / "alerts.yml"))
    promtool("check", "config", str(FOLDER / "prometheus.yml"))


@needs_promtool
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_a_rule_rings_when_it_should_and_not_before(case, tmp_path):
    """Without its words: promtool wants those repeated, and checks them with the rules."""
    bare = {key: said for key, said in RULES[case.stem].items() if key != "annotations"}
    rules, tests = tmp_path / "rules.yml", tmp_path / "tests.yml"
    rules.write_text(yaml.safe_dump({"groups": [{"name": "bare", "rules": [bare]}]}))
    made = staged(case.stem, yaml.safe_load(case.read_text("utf-8")))
    tests.write_text(yaml.safe_dump({"rule_files": [str(rules)], "tests": [made]}))
    promtool("test", "rules", str(tests))


def staged(name, case):
    """A case as promtool has it; every series is of the job modelway."""
    labels = {"job": "modelway", "severity": RULES[name]["labels"]["severity"]} | case["labels"]
    return {
        "interval": "1m",
        "input_series": [
            {"series": one["series"].replace("{", '{job="modelway",'), "values": one["values"]}
            for one in case["series"]
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
