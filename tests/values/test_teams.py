"""Teams, and the callers that are their members."""

import pickle

import pytest

from engine.values.caller import Caller, Team
from engine.values.quota import Quota
from engine.values.teams import Teams

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
