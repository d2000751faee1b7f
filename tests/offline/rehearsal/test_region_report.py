"""What `explain` says of required regions, of hosts and of fixed responses."""

from engine.exchange.internal_request import Request
from engine.offline.rehearsal.rehearse import rehearse
from engine.offline.rehearsal.report import report
from engine.offline.rehearsal.report_text import text
from tests.support.rehearsing import CONFIG, planned

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


def explained(folder, method, path, body=b"", token="", host="a.test"):
    result = planned(folder, REGIONAL)
    callers = {caller.name: caller for caller in result.plan.config.tokens.values()}
    headers = [("host", host), ("content-type", "application/json")]
    rehearsal = rehearse(result.plan, Request(method, path, headers, body), callers.get(token))
    return report(result, rehearsal)


def test_the_upstreams_elsewhere_are_named(tmp_path):
    body = b'{"model":"big","messages":[{}]}'
    said = explained(tmp_path, "POST", "/v1/chat", body, "alice")
    assert said["served"]
    assert said["region"] == {"required": "eu", "left_out": {"main": ["us"]}}
    assert {target["upstream"] for target in said["targets"]} == {"spare"}
    assert {request["upstream"] for request in said["upstream_requests"]} == {"spare"}
    assert "eu; left out: main (us)" in text(said)


def test_nothing_is_said_without_a_requirement(tmp_path):
    said = explained(tmp_path, "GET", "/v1/items/1")
    assert said["served"]
    assert said["region"] is None


def test_another_host_has_another_route(tmp_path):
    said = explained(tmp_path, "GET", "/v1/items/1", host="B.test:80")
    assert (said["status"], said["error"]["code"]) == (410, "operation_unavailable")
    assert said["route"]["hosts"] == ["b.test"]
    assert said["validation"]["verdict"] == "not reached"
    assert "by the gateway (410) at b.test" in text(said)
