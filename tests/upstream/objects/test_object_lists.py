"""Lists of objects: whose accounts they are of."""

import pytest

from engine.exchange.opened_ids import Holder
from engine.values.errors import GatewayError
from tests.support.object_lists import ids, listed, page, queries, row
from tests.support.object_routes import OTHER, sealed, target
from tests.support.upstreams import Client


def test_the_list_goes_on_to_other_accounts():
    second = Client(page(row("z")))
    beta = target("beta", client=second)
    answer = listed(Client(page(row("a"))), "", beta)
    assert ids(answer) == [sealed("a"), sealed("z", holder=Holder("beta"))]


def test_with_all_as_owner_pages_are_the_vendors():
    client = Client(page(row("a", OTHER), row("b", None)))
    assert len(ids(listed(client, "limit=2", owner="all"))) == 2
    assert queries(client) == ["limit=2"]


def test_a_cursor_of_another_upstream_is_refused_by_its_name():
    with pytest.raises(GatewayError, match="lives at 'beta'"):
        listed(Client(), f"after={sealed('a', holder=Holder('beta'))}")


def test_backwards_a_walk_stays_in_its_account():
    second = Client()
    beta = target("beta", client=second)
    answer = listed(Client(page(row("a"))), f"before={sealed('f')}", beta)
    assert ids(answer) == [sealed("a")]
    assert second.requests == []
