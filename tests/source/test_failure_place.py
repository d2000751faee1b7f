"""The place that is noted on an exception."""

from __future__ import annotations

import pytest

from engine.source.failure_place import failure_place, reading
from engine.source.problem import Place

OUTER, INNER = Place("a.yaml", 0, 0), Place("a.yaml", 3, 1)


def fail(*places: Place) -> Exception:
    """The exception that is raised within these places, the innermost last."""
    try:
        if not places:
            raise RecursionError
        with reading(lambda: places[0]):
            raise fail(*places[1:])
    except RecursionError as error:
        return error


def test_the_innermost_place_is_noted() -> None:
    assert failure_place(fail(OUTER, INNER)) == INNER
    assert failure_place(fail(OUTER)) == OUTER
    assert failure_place(fail()) is None


def test_a_place_that_cannot_be_found_leaves_the_exception() -> None:
    def nowhere() -> Place:
        raise KeyError

    with pytest.raises(RecursionError) as raised, reading(nowhere):
        raise RecursionError
    assert failure_place(raised.value) is None
