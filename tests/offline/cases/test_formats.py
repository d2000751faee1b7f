"""Results as text, JSON and JUnit's XML."""

import json
import xml.etree.ElementTree as ET

from engine.offline.cases import formats
from tests.support.judged_cases import case, result_of, results


def test_no_secret_is_in_what_was_found(project):
    result = result_of(
        project, {"headers": {"authorization": "x"}, "url": "y"}, upstream_answers=503
    )
    output = formats.as_json([result]) + formats.as_junit([result]) + formats.line(result)
    assert "authorization" in output
    assert "literal-credential" not in output
    assert "sk-main-credential" not in output


def test_json_and_junit_tell_what_the_text_tells(project):
    good, bad = results(
        project, case({"status": 200}, name="good <&>"), case({"status": 400}, name='bad "one"\x07')
    )
    document = json.loads(formats.as_json([good, bad]))
    assert (document["passed"], document["failed"]) == (1, 1)
    (failure,) = document["tests"][1]["failures"]
    outcome = {name: failure[name] for name in ("expectation", "expected", "actual")}
    assert outcome == {"expectation": "status", "expected": "400", "actual": "200"}
    suite = ET.fromstring(formats.as_junit([good, bad])).find("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    first, second = suite.findall("testcase")
    assert (first.get("name"), first.find("failure")) == ("good <&>", None)
    assert "status: expected 400, found 200" in second.find("failure").text
    assert formats.summary([good, bad]) == "1 passed, 1 failed"


def test_github_gets_an_error_for_each_failed_case(project):
    good, bad = results(
        project, case({"status": 200}), case({"status": 400}, name="two:\n::error::x")
    )
    first, last = formats.as_github([good, bad]).splitlines()
    place = bad.case.place()
    head = f"::error file={place.file},line={place.line},col={place.column},title=test%3A two%3A%0A"
    assert first.startswith(head)
    assert first.endswith(": status: expected 400, found 200")
    assert last == "1 passed, 1 failed"


def test_a_refusal_stands_below_the_expectations_that_are_missed(project):
    result = result_of(project, {"status": 200}, request={"method": "GET", "path": "/nowhere"})
    assert formats.line(result).splitlines()[2] == f"      the gateway: {result.refusal}"
    assert json.loads(formats.as_json([result]))["tests"][0]["refusal"] == result.refusal != ""
