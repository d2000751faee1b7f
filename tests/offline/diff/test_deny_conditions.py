"""Whether the conditions of a policy `deny` refuse more or less than others did."""

from engine.offline.diff.deny_conditions import Direction, direction
from engine.policies import deny
from tests.support.each import each

N2 = {"body": {"n": {"minimum": 2}}}
N3 = {"body": {"n": {"minimum": 3}}}
PAID = {"header": {"x-tier": ["paid"]}}
PAID_OR_STAFF = {"header": {"x-tier": ["paid", "staff"]}}


@each(
    ("old", "new", "expected"),
    [
        ({"if": N2}, {"if": N3}, "less"),
        ({"if": N2}, {"if": N2 | PAID}, "less"),
        ({"if": PAID}, {"if": N2}, "other"),
        ({"if": PAID}, {"if": PAID_OR_STAFF}, "more"),
        ({"if": N2}, {"if": N2, "unless": PAID}, "less"),
        ({"if": N2, "unless": PAID}, {"if": N2, "unless": PAID_OR_STAFF}, "less"),
        ({"if": N2}, {"unless": PAID}, "other"),
        ({"if": N2 | PAID}, {"if": N3 | PAID_OR_STAFF}, "other"),
    ],
)
def test_direction(old, new, expected):
    opposite = {"less": "more", "more": "less"}.get(expected, expected)
    assert direction(deny.read(old), deny.read(new)) is Direction(expected)
    assert direction(deny.read(new), deny.read(old)) is Direction(opposite)


def test_without_a_condition_on_the_body_unreadable_bodies_pass():
    old, new = deny.read({"if": N2 | PAID}), deny.read({"if": PAID})
    assert direction(old, new) is Direction.OTHER


@each(
    ("old", "new"),
    [
        ({"properties": {"a": {"minimum": 1}}}, {"properties": {"a": {"minimum": 2}}}),
        ({"format": "uri"}, {"format": "email"}),
        ({"const": "2"}, {"enum": ["2", 2]}),
        ({"not": {"const": 1}}, {"not": {"const": 2}}),
    ],
)
def test_schemas_that_are_not_compared(old, new):
    was, now = ({"if": {"header": {"a": schema}}} for schema in (old, new))
    assert direction(deny.read(was), deny.read(now)) is Direction.OTHER
