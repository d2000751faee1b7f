"""Priorities by name."""

from __future__ import annotations

import pytest

from engine.values.admission import NORMAL, rank_of


def test_priorities_are_ranked_and_none_is_normal():
    assert rank_of("low") < rank_of("normal") == rank_of("") == NORMAL < rank_of("high")


def test_an_unknown_priority_is_no_priority():
    with pytest.raises(ValueError, match="not in tuple"):
        rank_of("urgent")
