"""A time limit for a query that waits for the database."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import gevent

from engine.stores.database.failures import DatabaseAway

T = TypeVar("T")


def within(seconds: float, query: Callable[[], T]) -> T:
    """The result of a query. Raises DatabaseAway if there is none after that many seconds."""
    timeout = gevent.Timeout(seconds)
    try:
        with timeout:
            return query()
    except gevent.Timeout as error:
        if error is not timeout:
            raise
        raise DatabaseAway(f"no answer within {seconds:g} s") from error
