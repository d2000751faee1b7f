"""Branches of two unions that correspond."""

import pytest

from engine.offline.diff.schema_unions import Branches, branch_name
from tests.support.documents import document, library


def part(*branches):
    schemas = {"It": {"anyOf": [*branches]}, "Cat": {"type": "object"}, "Dog": {"type": "object"}}
    node = library(document(components={"schemas": schemas})).document
    node = node.get("components").get("schemas").step("It").step("anyOf")
    return tuple(node.step(index) for index in range(len(branches)))


CAT, DOG = ({"$ref": f"#/components/schemas/{name}"} for name in ("Cat", "Dog"))
TEXT = {"type": "string"}
TAGGED = {"type": "object", "properties": {"kind": {"const": "x"}}}


@pytest.mark.parametrize(
    ("old", "new", "pairs", "removed", "added"),
    [
        ([CAT, DOG], [DOG, CAT], 2, [], []),
        ([CAT, DOG], [DOG], 1, ["Cat"], []),
        ([TEXT], [TEXT, TAGGED], 1, [], ["kind=x"]),
        ([TEXT, {"type": "null"}], [TEXT], 1, [], []),
        ([{"title": "A"}], [{"title": "B"}], 1, [], []),
        ([{}, {}], [{}], 1, ["1"], []),
    ],
)
def test_branches_correspond_by_name(old, new, pairs, removed, added):
    branches = Branches(part(*old), part(*new))
    assert (len(branches.pairs), branches.removed, branches.added) == (pairs, removed, added)


def test_a_branch_without_a_name_is_one_of_several():
    assert (branch_name("Cat"), branch_name("1")) == ("'Cat'", "one of several alternatives")
