"""A query has a time limit, and other timeouts are not taken for it."""

from __future__ import annotations

import gevent
import pytest

from engine.callers.time_limit import within
from engine.stores.database.failures import DatabaseAway
from tests.support.waiting import PATIENCE


def test_a_query_in_time_has_its_result() -> None:
    assert within(PATIENCE, lambda: 7) == 7


def test_a_query_without_an_answer_is_a_database_that_is_away() -> None:
    with pytest.raises(DatabaseAway, match=r"^no answer within 0\.01 s$"):
        within(0.01, lambda: gevent.sleep(PATIENCE))


def test_the_timeout_of_somebody_else_goes_on_to_them() -> None:
    with pytest.raises(gevent.Timeout) as raised, gevent.Timeout(0.01) as outer:
        within(PATIENCE, lambda: gevent.sleep(PATIENCE))
    assert raised.value is outer
