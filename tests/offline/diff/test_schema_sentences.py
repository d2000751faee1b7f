"""Sentences about the difference of two schemas."""

import pytest

from engine.offline.diff.compared_keywords import Bound
from engine.offline.diff.schema_constraints import Constraint, Fact
from engine.offline.diff.schema_sentences import RESPONSES, STRICTER, WEAKER, member, quoted


def test_each_fact_has_a_sentence_in_both_directions():
    assert set(STRICTER) == set(WEAKER) == set(Fact)
    kinds = [kind for table in (STRICTER, WEAKER, RESPONSES) for kind, _ in table.values()]
    assert len(set(kinds)) == len(kinds)


def test_a_body_without_a_name_is_the_body():
    assert (quoted(""), quoted("Chat.a")) == ("the body", "'Chat.a'")
    assert (member("", "a"), member("Chat", "a")) == ("a", "Chat.a")


BOUND = Constraint(Fact.BOUND, "maximum", Bound(5), Bound(3))


@pytest.mark.parametrize(
    ("table", "constraint", "message"),
    [
        (STRICTER, BOUND, "'A': maximum is 3, was 5"),
        (WEAKER, BOUND, "'A': maximum is 5, was 3"),
        (STRICTER, BOUND._replace(loose=None), "'A': maximum is 3, was unbounded"),
        (WEAKER, BOUND._replace(loose=None), "'A': has no maximum, was 3"),
        (
            WEAKER,
            Constraint(Fact.TYPE, "", None, frozenset({"null", "string"})),
            "'A' may be any type, was null, string",
        ),
        (
            RESPONSES,
            Constraint(Fact.TYPE, "", None, frozenset({"string"})),
            "'A' may be any type now",
        ),
        (WEAKER, Constraint(Fact.KEYWORD, "format", False, "uuid"), "'A': format is gone"),
        (STRICTER, Constraint(Fact.KEYWORD, "format", True, "uuid"), "'A': format has changed"),
        (WEAKER, Constraint(Fact.VALUE, "", ["b"], ["a"]), "'A' may also be b"),
    ],
)
def test_the_sentence_has_the_new_value_first(table, constraint, message):
    assert table[constraint.fact].sentence("A", constraint) == message
