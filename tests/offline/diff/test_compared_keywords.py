"""Keywords of one schema as values that can be compared."""

import pytest

from engine.offline.diff.compared_keywords import (
    Bound,
    bounds_of,
    is_narrower,
    others_of,
    target_of,
)
from tests.support.documents import document, library


def node(schema, *, version="3.1.0", **schemas):
    text = document(version=version, components={"schemas": {"It": schema, **schemas}})
    return library(text).document.get("components").get("schemas").step("It")


def test_keywords_beside_a_reference_count_from_3_1_on():
    schema = {"$ref": "#/components/schemas/Name", "maxLength": 2}
    name = {"type": "string"}
    target, beside = target_of(node(schema, Name=name))
    assert (target.value, beside) == (name, {"maxLength": 2})
    assert target_of(node(schema, version="3.0.3", Name=name))[1] == {}


@pytest.mark.parametrize(
    ("key", "narrow", "wide"),
    [("minimum", 2, 1), ("maximum", 1, 2), ("minContains", 2, 1), ("maxProperties", 1, 2)],
)
def test_a_bound_is_narrower_by_its_direction(key, narrow, wide):
    assert is_narrower(key, Bound(narrow), Bound(wide))
    assert not is_narrower(key, Bound(wide), Bound(narrow))
    assert not is_narrower(key, Bound(wide), Bound(wide))
    assert is_narrower(key, Bound(wide, exclusive=True), Bound(wide))


def test_a_bound_without_an_effect_is_none():
    assert bounds_of({"minItems": 0, "minContains": 2, "maximum": True}) == {}
    assert bounds_of({"contains": {}, "minContains": 0, "maxContains": 1}) == {
        "maxContains": Bound(1)
    }


@pytest.mark.parametrize(
    ("schema", "others"),
    [
        ({"format": "uuid"}, {"format": {"uuid"}}),
        ({"format": "model-name"}, {}),
        ({"format": "byte"}, {}),
        ({"uniqueItems": False}, {}),
        ({"dependentRequired": {"a": ["b", "c"]}}, {"dependentRequired": {"a with b", "a with c"}}),
        ({"if": {}, "then": False}, {"then": {"{} false"}}),
    ],
)
def test_other_constraints_are_texts(schema, others):
    assert others_of(node(schema)) == others


def test_a_text_has_what_references_lead_to():
    schema = {"not": {"$ref": "#/components/schemas/Name"}}
    texts = [others_of(node(schema, Name={"maxLength": size}))["not"] for size in (1, 2)]
    assert texts == [{'{"maxLength": 1}'}, {'{"maxLength": 2}'}]


def test_a_recursive_schema_is_a_text_too():
    schema = {"not": {"properties": {"a": {"$ref": "#/components/schemas/It"}}}}
    (text,) = others_of(node(schema))["not"]
    assert text.endswith("}" * text.count("{"))
    assert '"..."' in text
