"""The targets in the report of a rehearsal: their order and bounds, regions, prices, upstreams."""

from __future__ import annotations

import pytest

from engine.exchange.internal_request import Request
from engine.offline.rehearsal.rehearse import rehearse
from engine.offline.rehearsal.report import report
from engine.offline.rehearsal.report_text import text
from engine.offline.rehearsal.target_report import upstream_report
from tests.support import yaml_text
from tests.support.configs import read_config
from tests.support.rehearsing import CONFIG, explained_chat, patched, planned


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    return planned(tmp_path_factory.mktemp("project"))


def test_targets_are_in_the_order_of_attempts(result):
    document = [
        (t["upstream"], t["model"], t["weight"], t["fallback"])
        for t in explained_chat(result)["targets"]
    ]
    assert document == [
        ("main", "real-big", 3.0, ""),
        ("spare", "big", 1.0, ""),
        ("spare", "real-small", 1.0, "small"),
    ]


def test_targets_name_the_strategy_of_their_entry(tmp_path):
    patch = {"models": {"big": {"choose": "least_busy"}}}
    project = planned(tmp_path, patched(CONFIG, patch))
    document = explained_chat(project)
    assert [t["choose"] for t in document["targets"]] == ["least_busy", "least_busy", "weighted"]
    assert ", chosen by least_busy" in text(document)


def test_a_target_names_a_bound_of_its_own(tmp_path):
    config = yaml_text.load(CONFIG)
    config["models"]["big"]["to"][1]["max_in_flight"] = 3
    document = explained_chat(planned(tmp_path, yaml_text.dump(config)))
    assert [t["max_in_flight"] for t in document["targets"]] == [None, 3, None]
    assert "spare as big, weight 1 of 4, at most 3 at one time" in text(document)


PRICED = (
    CONFIG
    + """
prices: {big: {input: 3, output: 12}}
teams: {blue: {prices: {markup: 50%}}}
"""
)
BODY = b'{"model": "big", "messages": [{}]}'


def explained_for_team(folder, team):
    result = planned(folder, PRICED.replace("{name: alice,", f"{{name: alice, team: {team},"))
    (caller,) = [c for c in result.plan.config.tokens.values() if c.name == "alice"]
    headers = [("host", "a.test"), ("content-type", "application/json")]
    return report(result, rehearse(result.plan, Request("POST", "/v1/chat", headers, BODY), caller))


def test_the_price_of_a_team_is_shown_beside_the_vendors(tmp_path):
    explanation = explained_for_team(tmp_path, "blue")
    assert explanation["price"]["team"] == "blue"
    line = "4.5 / 18 USD per million tokens in / out, of team 'blue' (config +50%); "
    assert line + "the vendor's is 3 / 12" in text(explanation)


def test_without_prices_of_a_team_it_is_the_vendors(tmp_path):
    explanation = explained_for_team(tmp_path, "red")
    assert explanation["price"] == {
        "source": "config",
        "input": 3.0,
        "output": 12.0,
        "currency": "USD",
        "team": "",
        "vendor": None,
    }
    assert "per million" not in text(explanation)


REGIONAL = (
    CONFIG.replace("spare: {url", "spare: {regions: [eu], url")
    .replace("  main:\n", "  main:\n    regions: [us]\n", 1)
    .replace("rate: 5/1h}", "models: [big, small], operations: [shop.chat], require: {region: eu}}")
    .replace(
        "routes:\n",
        "routes:\n"
        "  - {operation: shop.show, hosts: [b.test], respond: {status: 410}, auth: none}\n",
    )
)


def explained_request(folder, method, path, body=b"", token="", host="a.test"):
    result = planned(folder, REGIONAL)
    callers = {caller.name: caller for caller in result.plan.config.tokens.values()}
    headers = [("host", host), ("content-type", "application/json")]
    rehearsal = rehearse(result.plan, Request(method, path, headers, body), callers.get(token))
    return report(result, rehearsal)


def test_the_upstreams_elsewhere_are_named(tmp_path):
    body = b'{"model":"big","messages":[{}]}'
    said = explained_request(tmp_path, "POST", "/v1/chat", body, "alice")
    assert said["served"]
    assert said["region"] == {"required": "eu", "left_out": {"main": ["us"]}}
    assert {target["upstream"] for target in said["targets"]} == {"spare"}
    assert {request["upstream"] for request in said["upstream_requests"]} == {"spare"}
    assert "eu; left out: main (us)" in text(said)


def test_nothing_is_said_without_a_requirement(tmp_path):
    said = explained_request(tmp_path, "GET", "/v1/items/1")
    assert said["served"]
    assert said["region"] is None


def test_another_host_has_another_route(tmp_path):
    said = explained_request(tmp_path, "GET", "/v1/items/1", host="B.test:80")
    assert (said["status"], said["error"]["code"]) == (410, "operation_unavailable")
    assert said["route"]["hosts"] == ["b.test"]
    assert said["validation"]["verdict"] == "not reached"
    assert "by the gateway (410) at b.test" in text(said)


def upstream(text: str = ""):
    return read_config(f"upstreams: {{main: {{url: 'https://a.test'{text}}}}}\n").upstreams["main"]


def test_an_upstream_without_a_bound_has_none_and_no_queue():
    report = upstream_report(upstream())
    assert (report["max_in_flight"], report["queue"], report["addresses"]) == (None, None, None)


def test_the_bound_and_the_queue_are_reported_with_defaults():
    report = upstream_report(upstream(", max_in_flight: 8, queue: {size: 5}"))
    assert (report["max_in_flight"], report["queue"]) == (8, {"size": 5, "wait": 10.0})
