"""`modelway test`: what it finds, what it prints, how it exits."""

import json
import xml.etree.ElementTree as ET

import pytest
from click.testing import CliRunner

from engine import cli
from tests.support.rehearsing import AMBIGUOUS, CONFIG, ENVIRON, write

GOOD = """tests:
  - name: an item
    request: {method: GET, path: /v1/items/7}
    expect: {operation: shop.show, status: 200}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, value in ENVIRON.items():
        monkeypatch.setenv(name, value)
    write(tmp_path)
    return tmp_path


def run(*args):
    return CliRunner().invoke(cli.main, ["test", *args])


def test_cases_beside_the_config_are_found_and_pass(folder):
    (folder / "items.test.yaml").write_text(GOOD)
    result = run()
    assert (result.exit_code, result.output) == (0, "ok    an item\n1 passed\n")


def test_cases_in_the_config_are_found_as_well(folder):
    (folder / "gateway.yaml").write_text(CONFIG + GOOD)
    (folder / "items.test.yaml").write_text(GOOD.replace("an item", "another"))
    assert run().output == "ok    an item\nok    another\n2 passed\n"


def test_only_the_named_files_are_run(folder):
    (folder / "a.test.yaml").write_text(GOOD)
    (folder / "b.yaml").write_text(GOOD.replace("an item", "another"))
    assert run("b.yaml").output == "ok    another\n1 passed\n"


def test_a_failure_has_its_place_and_exits_with_1(folder):
    (folder / "a.test.yaml").write_text(GOOD.replace("status: 200", "status: 404"))
    result = run()
    assert result.exit_code == 1
    assert result.output.splitlines() == [
        "FAIL  an item",
        "      a.test.yaml:4:44: status: expected 404, found 200",
        "0 passed, 1 failed",
    ]


def test_json_and_junit_are_complete_documents(folder):
    (folder / "a.test.yaml").write_text(GOOD)
    assert json.loads(run("--format", "json").output)["passed"] == 1
    assert ET.fromstring(run("--format", "junit").output).find("testsuite").get("tests") == "1"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (GOOD.replace("status", "statsu"), "a.test.yaml:4:36: error: unknown key 'statsu' [MW101]"),
        (GOOD.replace("shop.show", "shop.shwo"), "a.test.yaml:4:25: error: unknown operation"),
        ("tests: [", "a.test.yaml:2:1: error: not YAML"),
    ],
)
def test_problems_of_a_file_are_printed_as_by_check(folder, text, place):
    (folder / "a.test.yaml").write_text(text)
    result = run()
    assert result.exit_code == 1
    assert place in result.output
    assert "nothing is tested" in result.output


def test_a_config_with_errors_is_not_tested(folder):
    (folder / "gateway.yaml").write_text(CONFIG.replace("upstream: main", "upstream: mian"))
    (folder / "a.test.yaml").write_text(GOOD)
    result = run()
    assert (result.exit_code, "unknown upstream 'mian'" in result.output) == (1, True)


def test_a_config_without_cases_fails(folder):
    result = run()
    assert (result.exit_code, "no cases" in result.output) == (2, True)


def test_a_missing_file_is_a_problem(folder):
    result = run("no.test.yaml")
    assert (result.exit_code, "MW002" in result.output) == (1, True)


CHAT = """tests:
  - name: chat
    request: {method: POST, path: /v1/chat, token: alice, body: {model: big, messages: [{}]}}
    expect: {status: 200}
"""
WARNING = "MW421: the body: Modelway accepts it, openapi-core refuses it (model: 'big' is too long)"


def test_a_request_that_openapi_core_reads_differently_has_a_warning_and_passes(folder):
    write(folder, document=AMBIGUOUS)
    (folder / "chat.test.yaml").write_text(CHAT)
    result = run()
    assert result.output == f"ok    chat\n      warning: {WARNING}\n1 passed\n"
    assert result.exit_code == 0


def test_json_and_junit_have_the_warnings(folder):
    write(folder, document=AMBIGUOUS)
    (folder / "chat.test.yaml").write_text(CHAT)
    (test,) = json.loads(run("--format", "json").output)["tests"]
    assert test["warnings"] == [WARNING]
    (case,) = ET.fromstring(run("--format", "junit").output).iter("testcase")
    assert case.find("system-out").text == WARNING


def test_the_second_opinion_can_be_switched_off(folder):
    write(folder, document=AMBIGUOUS)
    (folder / "chat.test.yaml").write_text(CHAT)
    assert run("--no-second-opinion").output == "ok    chat\n1 passed\n"
