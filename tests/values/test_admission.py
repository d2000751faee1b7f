"""Priorities by name."""

from __future__ import annotations

import pytest

from engine.values.admission import NORMAL, check_priority, rank_of


def test_priorities_are_ranked_and_none_is_normal():
    assert rank_of("low") < rank_of("normal") == rank_of("") == NORMAL < rank_of("high")


def test_an_unknown_priority_is_refused_with_those_that_exist():
    assert check_priority("low") == "low"
    with pytest.raises(ValueError, match="'urgent' is not a priority; write low, normal, high"):
        check_priority("urgent")
