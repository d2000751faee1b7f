"""The place in a file that was being read when an exception was raised."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from engine.source.problem import Place

_KEY = "modelway_place"


@contextmanager
def reading(place: Callable[[], Place]) -> Iterator[None]:
    """Note the place on an exception that leaves the block, unless an inner block did."""
    try:
        yield
    except Exception as error:
        if failure_place(error) is None:
            with suppress(Exception):  # the exception that is raised already matters more
                error.__dict__[_KEY] = place()
        raise


def failure_place(error: Exception) -> Place | None:
    """The place that was noted on an exception; None without one."""
    place: Place | None = error.__dict__.get(_KEY)
    return place
