"""The report of `check` as JSON."""

import json

from tests.support.commands import modelway


def test_json_has_every_problem_and_the_totals(folder):
    report = json.loads(modelway("check", "--format", "json", "bad.yaml", "unwise.yaml").stdout)
    assert report["ok"] is False
    assert report["summary"] == {"error": 1, "warning": 1, "info": 0}
    assert report["files"] == [
        {"file": "bad.yaml", "error": 1, "warning": 0, "info": 0},
        {"file": "unwise.yaml", "error": 0, "warning": 1, "info": 0},
    ]
    assert report["problems"][0] == {
        "code": "MW313",
        "level": "error",
        "file": "bad.yaml",
        "line": 4,
        "column": 65,
        "message": "unknown upstream 'mian'",
        "hint": "did you mean 'main'?",
    }


def test_json_of_a_problem_of_a_whole_file_has_no_line(folder):
    report = json.loads(modelway("check", "--format", "json", "-", input=b"\xff").stdout)
    assert (report["problems"][0]["line"], report["problems"][0]["hint"]) == (None, None)
