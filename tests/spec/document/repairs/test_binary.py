"""`format: binary` of 3.0 in a 3.1 document."""

from __future__ import annotations

import copy
from typing import Any

from tests.support.documents import repaired
from tests.support.each import each


@each(
    ("version", "schema", "result", "codes"),
    [
        ("3.1.0", {"format": "binary"}, {"format": "binary"}, ["MW225"]),
        ("3.0.3", {"format": "binary"}, {"format": "binary"}, []),
        ("3.1.0", {"format": "date"}, {"format": "date"}, []),
    ],
)
def test_the_format_of_30_is_noted_in_31(
    version: str, schema: Any, result: Any, codes: list[str]
) -> None:
    assert repaired(copy.deepcopy(schema), version=version) == (result, codes)
