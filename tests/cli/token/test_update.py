"""`modelway token update`: what it changes, prints and refuses."""

import pytest

from engine.stores.database import tokens
from engine.stores.database.open_database import open_database
from tests.support.commands import assert_refused

pytestmark = pytest.mark.usefixtures("empty_folder")
WEB = ("--team", "web", "--priority", "low")
NOBODY = ("--team", "none", "--priority", "none")
LIMITS = ("--rate", "60/1m", "--token-budget", "1000000/1d", "--budget", "20 USD/30d")


def stored(url, name="shop"):
    database = open_database(url)
    token = tokens.get(database, name)
    database.close()
    return token


def test_limits_are_changed_and_others_stay(on, records_url):
    on("create", "--name", "shop", *LIMITS, "--concurrency", "4", "--note", "n")
    changed = ("--budget", "30 USD/month in Europe/Vienna", "--token-budget", "5000000/week")
    result = on("update", "shop", *changed)
    assert result.exit_code == 0, result.output
    assert set(result.stdout.splitlines()) == {
        "budget is 30 USD/month in Europe/Vienna, was 20 USD/30d",
        "token budget is 5000000/week, was 1000000/1d",
    }
    assert "running gateways use this within 10 s" in result.stderr
    token = stored(records_url)
    assert (token.budget, token.token_budget) == (changed[1], changed[3])
    assert (token.rate, token.concurrency, token.note) == ("60/1m", 4, "n")


def test_none_removes_a_bound(local):
    local("create", "--name", "shop", *LIMITS, "--expires", "2999-12-31", *WEB)
    result = local("update", "shop", "--rate", "none", "--expires", "none", *NOBODY)
    assert set(result.stdout.splitlines()) == {
        "rate is none, was 60/1m",
        "expires is none, was 3000-01-01T00:00:00Z",
        "team is none, was web",
        "priority is none, was low",
    }


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "nothing to change"),
        (("--budget", "30 EUR/month"), "is in EUR, but prices are in USD"),
        (("--budget", "30 USD/month in Europe/Wien"), "is not a time zone like Europe/Vienna"),
        (("--rate", "1000/year"), "is not an amount per time like 60/1m or 1000/day"),
        (("--concurrency", "0"), "is not a number of requests"),
        (("--expires", "2001-01-01"), "is not a time in the future"),
    ],
)
def test_wrong_values_are_refused_and_change_nothing(local, arguments, words):
    local("create", "--name", "shop", *LIMITS)
    before = local("show", "shop").stdout
    assert_refused(local("update", "shop", *arguments), words, status=2)
    assert local("show", "shop").stdout == before


def test_an_unknown_token_is_refused(local):
    local("create", "--name", "shop")
    assert_refused(local("update", "shpo", "--rate", "1/day"), "shpo", "shop")


def test_a_revoked_token_is_refused(local):
    local("create", "--name", "shop")
    local("revoke", "shop")
    assert_refused(local("update", "shop", "--rate", "1/day"), "is revoked")
