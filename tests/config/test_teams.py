"""`teams:` of gateway.yaml."""

from engine.values.quota import Quota
from tests.support.configs import read_config, read_errors

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
