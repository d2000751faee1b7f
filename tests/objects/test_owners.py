"""Who owns what a caller makes."""

from engine.objects.owners import EVERYBODY, owner_of
from engine.values.caller import Caller

ANN, CAT = Caller("ann", team="red"), Caller("cat", team="red")


def test_a_token_owns_its_objects():
    assert owner_of(ANN, "token") == owner_of(Caller("ann"), "token")
    assert owner_of(ANN, "token") != owner_of(CAT, "token")


def test_a_team_shares_them():
    assert owner_of(ANN, "team") == owner_of(CAT, "team")
    assert owner_of(ANN, "team") != owner_of(Caller("bob", team="blue"), "team")


def test_a_token_without_a_team_shares_with_nobody():
    assert owner_of(Caller("ann"), "team") == owner_of(Caller("ann"), "token")
    assert owner_of(Caller("red"), "team") != owner_of(ANN, "team")


def test_callers_without_a_token_share_what_they_make_with_each_other_alone():
    assert owner_of(None, "token") == owner_of(None, "team")
    assert owner_of(None, "token") != owner_of(Caller(""), "token")


def test_with_all_everything_is_everybodys():
    assert owner_of(ANN, "all") == owner_of(None, "all") == EVERYBODY


def test_a_token_that_moves_to_another_team_leaves_its_objects_there():
    owners = {owner_of(Caller("ann", team=team), "team") for team in ("red", "blue", "")}
    assert len(owners) == 3
    assert owner_of(Caller("ann", team="red"), "team") == owner_of(Caller("b", team="red"), "team")
