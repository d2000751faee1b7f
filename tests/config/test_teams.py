"""`teams:` of gateway.yaml."""

import pickle

import pytest

from engine.config.teams import Teams
from engine.values.caller import Caller, Team
from engine.values.quota import Quota
from tests.support.configs import read_config, read_errors

COMPANY = Team("company", models=("gpt-*",), limits=(Quota("requests", 9, 60.0),))
SEARCH = Team("search", models=("*-mini", "other"), operations=("api.chat",), parent="company")
TEAMS = Teams({"company": COMPANY, "search": SEARCH})


def test_a_member_is_in_the_teams_above_its_own():
    assert TEAMS.member(Caller("a", team="search")).teams == (SEARCH, COMPANY)


def test_a_team_that_is_not_declared_is_a_label():
    caller = Caller("a", team="label")
    assert TEAMS.member(caller) is caller


@pytest.mark.parametrize(
    ("model", "allowed"),
    [("gpt-mini", True), ("gpt-big", False), ("other", False), ("llama-mini", False)],
)
def test_a_member_may_use_what_all_allow(model, allowed):
    assert TEAMS.member(Caller("a", team="search")).may_use(model) is allowed
    assert not TEAMS.member(Caller("a", models=(), team="search")).may_use(model)
    narrow = TEAMS.member(Caller("a", models=("gpt-mini",), team="search"))
    assert narrow.may_use(model) is (model == "gpt-mini")


def test_a_member_may_call_what_all_allow():
    member = TEAMS.member(Caller("a", operations=("api.*",), team="search"))
    assert member.may_call("api.chat")
    assert not member.may_call("api.list")


def test_lists_that_decide_alike_are_equal():
    one, two = (Teams({"t": Team("t", models=("a",))}) for _ in range(2))
    lists = [teams.member(Caller("x", team="t")).model_lists for teams in (one, two)]
    assert lists[0] == lists[1] == (("a",),)


def test_a_member_of_a_limited_team_is_limited():
    assert TEAMS.member(Caller("a", team="search")).is_limited
    assert not Caller("a", team="search").is_limited


def test_a_caller_of_another_process_may_do_the_same():
    caller = pickle.loads(pickle.dumps(Caller("a", models=("x",), claims={"tenant": "acme"})))
    assert (caller.may_use("x"), caller.may_use("y"), caller.claims) == (
        True,
        False,
        {"tenant": "acme"},
    )


@pytest.mark.parametrize("parent", ["nowhere", "a", "b"])
def test_teams_of_an_invalid_config_end(parent):
    teams = Teams({"a": Team("a", parent="b"), "b": Team("b", parent=parent)})
    assert len(teams.line("a")) == 2


DIGEST = "ab" * 32


def test_a_team_is_written_as_a_token():
    config = read_config(
        "teams: {a: {models: [x], operations: [y.*], rate: 6/1m, concurrency: 2}}\n"
    )
    team = config.teams.by_name["a"]
    assert (team.name, team.models, team.operations) == ("a", ("x",), ("y.*",))
    assert team.limits == (Quota("requests", 6, 60.0), Quota("concurrency", 2))


def test_a_token_is_a_member_of_the_team_that_it_names():
    config = read_config(
        "teams: {a: {in: b}, b: {rate: 6/1m}}\n"
        f"tokens: [{{name: t, team: a, sha256: {DIGEST}}}]\n"
    )
    assert [team.name for team in config.tokens[DIGEST].teams] == ["a", "b"]
    assert config.limits_callers


def test_a_budget_is_in_the_currency_of_the_file():
    assert read_errors("teams: {a: {budget: 5 EUR/month}}\n")


def test_a_team_of_a_file_that_cannot_be_read_is_not_called_unknown():
    text = "include: [missing.yaml]\nteams: {a: {in: b}}\n"
    assert [code for *_, code in read_errors(text)] == ["MW108"]
