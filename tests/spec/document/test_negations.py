"""A `not` around something that is left out is left out too."""

from __future__ import annotations

import copy
from typing import Any

from engine.spec.document.negations import remove_negation
from tests.support.documents import HERE, document, library
from tests.support.each import each

NEGATION = {"not": {"properties": {"a": {"not": {"pattern": "("}}}}}
SCHEMA = {"minLength": 1, **NEGATION, "properties": {"not": {"pattern": "("}}}


@each(
    ("path", "is_removed"),
    [
        (("not", "properties", "a", "not", "pattern"), True),
        (("not", "properties"), True),
        (("properties", "not", "pattern"), False),
        (("minLength",), False),
    ],
)
def test_the_outermost_negation_around_a_path_is_removed(
    path: tuple[str, ...], is_removed: bool
) -> None:
    schemas: Any = {"not": copy.deepcopy(SCHEMA)}  # the name of a component
    files = library(document(components={"schemas": schemas}))
    remove_negation(files, HERE, ("components", "schemas", "not", *path))
    left = {k: v for k, v in SCHEMA.items() if k != "not" or not is_removed}
    assert schemas == {"not": left}


def test_a_negation_that_was_removed_before_stays_removed() -> None:
    files = library(document(components={"schemas": {"A": {}}}))
    remove_negation(files, HERE, ("components", "schemas", "A", "items", "not", "pattern"))
    assert files.document.value["components"]["schemas"] == {"A": {}}
