"""The rules that `modelway diff` and oasdiff both judge: every row of the page is tried."""

import pytest

from tests.support import oasdiff


@pytest.fixture(scope="module")
def verdicts():
    return oasdiff.verdicts()


def test_both_agree_or_the_page_says_why_not(verdicts):
    wrong = [
        (row.rule, oasdiff.RULES[row.rule], verdicts[row.rule])
        for _, row_rules in oasdiff.rows()
        for row in row_rules
        if oasdiff.agrees(row.rule, verdicts[row.rule]) == bool(row.because)
    ]
    assert wrong == []


def test_every_rule_of_oasdiff_is_judged_or_listed_with_a_reason():
    judged = {row.rule for _, row_rules in oasdiff.rows() for row in row_rules}
    assert judged | set(oasdiff.not_judged()) == set(oasdiff.RULES)
    assert len(judged) > 300


def test_a_change_that_loosens_requests_is_weaker(verdicts):
    """What is INFO because callers see no difference, guards less."""
    endings = ("-increased", "-decreased", "-removed", "-widened", "-generalized", "-added")
    endings += ("-optional",)
    loosened = {
        rule: kinds
        for rule, kinds in verdicts.items()
        if rule.startswith("request-") and rule.endswith(endings) and oasdiff.RULES[rule] == "INFO"
    }
    strict = {rule for rule in loosened if "read-only" in rule or "prefix-items" in rule}
    assert len(loosened) > 50
    assert [
        rule
        for rule, kinds in loosened.items()
        if rule not in strict and not any(kind.startswith("weaker") for kind in kinds)
    ] == []


def test_the_page_has_the_table():
    text = oasdiff.PAGE.read_text("utf-8")
    assert text.partition(oasdiff.HEAD_START)[2] == oasdiff.table()
