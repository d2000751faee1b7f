"""The report of `check` as SARIF."""

import json

import pytest

from engine.cli import check_formats
from engine.source.problem import Level, Problem
from tests.support.commands import modelway, report


def sarif(*problems):
    return json.loads(check_formats.render("sarif", report(*problems)))


def test_sarif_is_valid_and_complete(folder):
    log = json.loads(modelway("check", "--format", "sarif", "bad.yaml", "unwise.yaml").stdout)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "modelway"
    assert [rule["id"] for rule in driver["rules"]] == ["MW313", "MW401"]
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"]
        assert rule["help"]["markdown"].startswith(f"# {rule['id']}: ")
    assert [r["level"] for r in run["results"]] == ["error", "warning"]
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": "bad.yaml"},
        "region": {"startLine": 4, "startColumn": 65},
    }


def test_sarif_without_problems_is_a_run_without_results():
    (run,) = sarif()["runs"]
    assert (run["results"], run["tool"]["driver"]["rules"]) == ([], [])


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("a b/é.yaml", "a%20b/%C3%A9.yaml"),
        ("{cwd}/x/y.yaml", "x/y.yaml"),
        ("/elsewhere/y.yaml", "file:///elsewhere/y.yaml"),
        ("<stdin>", "%3Cstdin%3E"),
    ],
)
def test_sarif_names_files_as_uris_from_the_working_directory(folder, file, uri):
    problem = Problem(file.format(cwd=folder), 0, 0, Level.INFO, "MW999", "m")
    (result,) = sarif(problem)["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": uri}}
    assert result["level"] == "note"
