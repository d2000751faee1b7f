"""Cases are read from files and from the config; each mistake is a problem with a place."""

import json

import pytest

from engine.offline.cases import read
from engine.offline.cases.run import run
from engine.source.problem import Findings
from tests.support import yaml_text
from tests.support.judged_cases import CHAT, FILE, case, read_cases, result_of
from tests.support.rehearsing import CONFIG, planned, write


def test_a_body_may_stand_in_a_file(project):
    (project.plan.config.folder / "body.json").write_text(json.dumps(CHAT["request"]["body"]))
    request = {**CHAT["request"], "body_file": "body.json"}
    del request["body"]
    assert result_of(project, {"model": "real-big"}, request=request).failures == []


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"expect": {"operation": "shop.chatt"}}, "MW301"),
        ({"expect": {"upstream": "mian"}}, "MW313"),
        ({"expect": {"upstreams": ["main", "mian"]}}, "MW313"),
        ({"upstream_answers": {"mian": 503}}, "MW313"),
        ({"request": {**CHAT["request"], "token": "alicia"}}, "MW331"),
        ({"request": {"method": "GET", "path": "/", "body_file": "no.json"}}, "MW106"),
        ({"request": {**CHAT["request"], "body_file": "no.json"}}, "MW105"),
        ({"request": {**CHAT["request"], "time": "noon"}}, "MW104"),
        ({"expect": {}}, "MW104"),
        ({"expect": {"statsu": 200}}, "MW101"),
        ({"request": {"method": "GET"}}, "MW102"),
        ({"expect": {"status": "ok"}}, "MW103"),
    ],
)
def test_what_is_wrong_with_a_case_is_a_problem_with_a_place(project, more, code):
    findings = Findings()
    assert read_cases(project, findings, {**case({"status": 200}), **more}) == []
    assert code in [problem.code for problem in findings.problems]


def test_two_cases_have_two_names(project):
    same = case({"status": 200})
    findings = Findings()
    read_cases(project, findings, same, same)
    (problem,) = findings.problems
    assert (problem.code, "the first is at a.test.yaml:2:3" in problem.hint) == ("MW107", True)


def test_the_cases_of_the_config_itself_are_read_with_their_places(tmp_path):
    text = CONFIG + yaml_text.dump({"tests": [case({"model": "other"})]})
    project = planned(tmp_path, text)
    findings = Findings()
    listed = read.of_config(project, write(tmp_path, text), findings)
    (result,) = run(listed, project.plan)
    (failure,) = result.failures
    assert findings.problems == []
    assert text.splitlines()[failure.place.line - 1].strip() == "model: other"


def test_a_miss_tells_place_expectation_and_finding(project):
    (failure,) = result_of(project, {"status": 200, "model": "other"}).failures
    text = (project.plan.config.folder / FILE).read_text().splitlines()
    assert text[failure.place.line - 1].strip() == "model: other"
    assert str(failure) == (
        f'a.test.yaml:{failure.place.line}:12: model: expected "other", found "real-big"'
    )
