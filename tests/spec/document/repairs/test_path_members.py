"""A body that requires a variable of the path again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.documents import ask, causes, document, get, read
from tests.support.each import each

OPTIONAL = {"type": "object", "required": ["model"], "properties": {"model": {}}}


@each(
    ("path", "schema", "codes"),
    [
        ("/{model}:run", OPTIONAL, ["MW229"]),
        ("/{other}:run", OPTIONAL, []),
        ("/{model}:run", {**OPTIONAL, "required": []}, []),
    ],
)
def test_the_member_may_be_omitted(
    tmp_path: Path, path: str, schema: Any, codes: list[str]
) -> None:
    body = {"content": {"application/json": {"schema": schema}}}
    specification, problems = read(
        tmp_path, document(paths={path: {"post": get(requestBody=body)}})
    )
    assert specification is not None
    assert [problem.code for problem in causes(problems)] == codes
    if codes:
        assert ask(specification.operations["x"], {}) == {}
