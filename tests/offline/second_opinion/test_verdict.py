"""Which verdicts differ, and how both readings are shown."""

import pytest

from engine.offline.second_opinion.verdict import NOT_COMPARED, Verdict, disagreement

ACCEPTED = Verdict()


def refusal(*keywords: str) -> Verdict:
    return Verdict("too long", frozenset(keywords))


@pytest.mark.parametrize("verdict", [ACCEPTED, refusal("maxLength")])
def test_equal_verdicts_do_not_disagree(verdict):
    assert disagreement("the body", verdict, verdict) is None


def test_both_readings_are_shown():
    difference = disagreement("the body", ACCEPTED, refusal("maxLength"))
    words = "the body: Modelway accepts it, openapi-core refuses it (too long)"
    assert str(difference) == words


def test_a_long_refusal_is_cut():
    difference = disagreement("the body", Verdict("x" * 1000), ACCEPTED)
    assert len(str(difference)) < 300


@pytest.mark.parametrize("keyword", NOT_COMPARED)
def test_a_refusal_by_a_keyword_of_the_table_is_not_compared(keyword):
    assert disagreement("the body", ACCEPTED, refusal("maxLength", keyword)) is None
    assert disagreement("the body", refusal("maxLength", keyword), ACCEPTED) is None
