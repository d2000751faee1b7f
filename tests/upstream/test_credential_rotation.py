"""Which credential comes next, and which rest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.config.model import Credential
from engine.upstream.credential_rotation import Credentials

A, B, C = (Credential("header", "authorization", value) for value in "ABC")


def values(credentials: Credentials, now: float, count: int) -> str:
    """Those that are taken at a moment, `-` for none."""
    taken = [credentials.take(now) for _ in range(count)]
    return "".join(one.value if one else "-" for one in taken)


def test_they_are_used_in_turn() -> None:
    assert values(Credentials([A, B, C]), 0, 7) == "ABCABCA"


def test_one_that_rests_is_left_out_until_its_time() -> None:
    made = Credentials([A, B, C])
    made.rest(B, 10)
    assert values(made, 9.9, 4) == "ACAC"
    assert "B" in values(made, 10, 3)


def test_when_all_rest_there_is_none() -> None:
    made = Credentials([A, B])
    made.rest(A, 10)
    made.rest(B, 7)
    assert values(made, 5, 2) == "--"
    assert made.wait(5) == 2
    assert values(made, 8, 2) == "BB"
    assert made.wait(8) == 0


def test_a_shorter_rest_does_not_end_a_longer_one() -> None:
    made = Credentials([A, B])
    made.rest(A, 60)
    made.rest(A, 1)
    assert values(made, 30, 2) == "BB"


def test_all_are_refused_only_while_each_rests_for_that() -> None:
    made = Credentials([A, B])
    made.rest(A, 60, refused=True)
    made.rest(B, 60)
    assert not made.all_refused(0)
    made.rest(B, 60, refused=True)
    assert (made.all_refused(59), made.all_refused(60)) == (True, False)


@pytest.mark.parametrize("every", [[], [A]])
def test_a_single_one_or_none_is_never_known_to_be_refused(every: list[Credential]) -> None:
    made = Credentials(every)
    for one in every:
        made.rest(one, 60, refused=True)
    assert not made.all_refused(0)


def test_a_single_one_never_rests() -> None:
    made = Credentials([A])
    made.rest(A, 10)
    assert (values(made, 0, 2), made.wait(0)) == ("AA", 0)


def test_an_upstream_may_have_none() -> None:
    made = Credentials([])
    assert not made
    assert (made.take(0), made.wait(5)) == (None, 0)
    assert Credentials([A])


@given(st.lists(st.tuples(st.sampled_from("tr"), st.sampled_from([A, B, C]), st.floats(0, 20))))
def test_none_is_taken_while_it_rests_and_one_is_while_any_is_awake(
    steps: list[tuple[str, Credential, float]],
) -> None:
    made, until, now = Credentials([A, B, C]), dict.fromkeys((A, B, C), 0.0), 0.0
    for step, credential, seconds in steps:
        if step == "r":
            made.rest(credential, now + seconds)
            until[credential] = max(until[credential], now + seconds)
            continue
        now += seconds / 4
        taken = made.take(now)
        awake = {one for one, end in until.items() if end <= now}
        assert taken in awake if awake else taken is None
        assert (made.wait(now) == 0) is bool(awake)
