"""Which credential is next, and which are set aside."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.credentials.interface.fixed import HeaderCredential
from engine.upstream.targets.credentials import Credentials

A, B, C = (HeaderCredential("header", "authorization", value) for value in "ABC")


def values(credentials: Credentials, now: float, count: int) -> str:
    """The values that are next at a moment, `-` for none."""
    following = [credentials.take(now) for _ in range(count)]
    return "".join(credential.secrets[0] if credential else "-" for credential in following)


def test_credentials_are_used_in_turn() -> None:
    assert values(Credentials([A, B, C]), 0, 7) == "ABCABCA"


def test_a_credential_that_is_set_aside_is_skipped_until_its_time() -> None:
    credentials = Credentials([A, B, C])
    credentials.set_aside(B, 10)
    assert values(credentials, 9.9, 4) == "ACAC"
    assert "B" in values(credentials, 10, 3)


def test_with_all_set_aside_there_is_none() -> None:
    credentials = Credentials([A, B])
    credentials.set_aside(A, 10)
    credentials.set_aside(B, 7)
    assert values(credentials, 5, 2) == "--"
    assert credentials.wait(5) == 2
    assert values(credentials, 8, 2) == "BB"
    assert credentials.wait(8) == 0


def test_a_shorter_pause_does_not_end_a_longer_one() -> None:
    credentials = Credentials([A, B])
    credentials.set_aside(A, 60)
    credentials.set_aside(A, 1)
    assert values(credentials, 30, 2) == "BB"


def test_all_are_refused_only_while_each_is_set_aside_as_refused() -> None:
    credentials = Credentials([A, B])
    credentials.set_aside(A, 60, refused=True)
    credentials.set_aside(B, 60)
    assert not credentials.all_refused(0)
    credentials.set_aside(B, 60, refused=True)
    assert (credentials.all_refused(59), credentials.all_refused(60)) == (True, False)


@pytest.mark.parametrize("every", [[], [A]])
def test_a_single_credential_or_none_never_counts_as_refused(every: list[HeaderCredential]) -> None:
    credentials = Credentials(every)
    for credential in every:
        credentials.set_aside(credential, 60, refused=True)
    assert not credentials.all_refused(0)


def test_a_single_credential_is_never_set_aside() -> None:
    credentials = Credentials([A])
    credentials.set_aside(A, 10)
    assert (values(credentials, 0, 2), credentials.wait(0)) == ("AA", 0)


def test_an_upstream_may_have_no_credential() -> None:
    credentials = Credentials([])
    assert not credentials
    assert (credentials.take(0), credentials.wait(5)) == (None, 0)
    assert Credentials([A])


@given(st.lists(st.tuples(st.sampled_from("tr"), st.sampled_from([A, B, C]), st.floats(0, 20))))
def test_a_credential_is_used_unless_it_is_set_aside(
    steps: list[tuple[str, HeaderCredential, float]],
) -> None:
    credentials, until, now = Credentials([A, B, C]), dict.fromkeys((A, B, C), 0.0), 0.0
    for step, credential, seconds in steps:
        if step == "r":
            credentials.set_aside(credential, now + seconds)
            until[credential] = max(until[credential], now + seconds)
            continue
        now += seconds / 4
        following = credentials.take(now)
        ready = {each for each, end in until.items() if end <= now}
        assert following in ready if ready else following is None
        assert (credentials.wait(now) == 0) is bool(ready)
