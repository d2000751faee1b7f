"""What a caller asks of its usage."""

from engine.stores.usage_query import UsageQuery


def test_without_more_it_asks_for_the_sums_of_the_token():
    query = UsageQuery(1, 2)
    assert (query.by, query.of_team) == ("", False)
