"""`modelway token revoke`: it cannot be undone."""

import pytest

from tests.support.commands import assert_refused

pytestmark = pytest.mark.usefixtures("empty_folder")


def test_a_revoked_token_stays_revoked(on):
    on("create", "--name", "shop")
    assert "refuse it within 10 s" in on("revoke", "shop").stderr
    again = on("revoke", "shop")
    assert again.exit_code == 0
    assert "was already revoked" in again.stderr
    assert_refused(on("rotate", "shop"), "is revoked", "create another")


@pytest.mark.parametrize("command", ["show", "revoke", "rotate"])
def test_an_unknown_name_has_a_suggestion(on, command):
    on("create", "--name", "shop-eu")
    assert_refused(on(command, "shop-ue"), "there is no token 'shop-ue'", "did you mean 'shop-eu'?")
