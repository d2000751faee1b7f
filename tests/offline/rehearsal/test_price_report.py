"""What `explain` says of the price for a team."""

from engine.exchange.internal_request import Request
from engine.offline.rehearsal.rehearse import rehearse
from engine.offline.rehearsal.report import report
from engine.offline.rehearsal.report_text import text
from tests.support.rehearsing import CONFIG, planned

PRICED = (
    CONFIG
    + """
prices: {big: {input: 3, output: 12}}
teams: {blue: {prices: {markup: 50%}}}
"""
)
BODY = b'{"model": "big", "messages": [{}]}'


def explained(folder, team):
    result = planned(folder, PRICED.replace("{name: alice,", f"{{name: alice, team: {team},"))
    (caller,) = [c for c in result.plan.config.tokens.values() if c.name == "alice"]
    headers = [("host", "a.test"), ("content-type", "application/json")]
    return report(result, rehearse(result.plan, Request("POST", "/v1/chat", headers, BODY), caller))


def test_the_price_of_a_team_is_shown_beside_the_vendors(tmp_path):
    explanation = explained(tmp_path, "blue")
    assert explanation["price"]["team"] == "blue"
    line = "4.5 / 18 USD per million tokens in / out, of team 'blue' (config +50%); "
    assert line + "the vendor's is 3 / 12" in text(explanation)


def test_without_prices_of_a_team_it_is_the_vendors(tmp_path):
    explanation = explained(tmp_path, "red")
    assert explanation["price"] == {
        "source": "config",
        "input": 3.0,
        "output": 12.0,
        "currency": "USD",
        "team": "",
        "vendor": None,
    }
    assert "per million" not in text(explanation)
