"""`teams.*.prices` of gateway.yaml."""

from decimal import Decimal

from engine.config.default_prices import prices_of
from tests.support.configs import read_config, read_errors

BASE = "prices: {m: {input: 1}}\n"


def cost_of(config, team):
    return prices_of(config).of(team).find("m").input // 10**12


def test_a_team_without_prices_has_those_of_the_team_above():
    config = read_config(
        BASE + "teams:\n"
        "  a: {prices: {markup: 100%}}\n"
        "  b: {in: a}\n"
        "  c: {in: b, prices: {models: {m: {input: 7}}}}\n"
        "  d: {}\n"
    )
    assert [cost_of(config, team) for team in ("a", "b", "c", "d", "")] == [2, 2, 7, 1, 1]


def test_a_markup_is_exact():
    config = read_config(BASE + "teams: {a: {prices: {markup: -12.5%}}}\n")
    assert config.team_prices["a"].markup == Decimal("-12.5")


def test_a_markup_that_leaves_less_than_nothing_is_refused():
    (error,) = read_errors(BASE + "teams: {a: {prices: {markup: -100.5%}}}\n")
    assert error[-1] == "MW560"
    assert read_config(BASE + "teams: {a: {prices: {markup: -100%}}}\n")


def test_a_markup_is_a_percentage():
    assert read_errors(BASE + "teams: {a: {prices: {markup: 20}}}\n")
    assert read_errors(BASE + "teams: {a: {prices: {}}}\n")
