"""Operations that need a removed part of their document are not served."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.documents import document, get, read
from tests.support.each import each

BROKEN = {"$ref": "#/components/schemas/Missing"}
BODY = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}}


@each(
    ("item", "refused_ids"),
    [
        ({"post": get(requestBody=BODY)}, ["x"]),
        ({"post": get(parameters=[{"name": "q", "in": "query", "schema": BROKEN}])}, ["x"]),
        (
            {"post": get(), "parameters": [{"name": "q", "in": "query", "schema": BROKEN}]},
            ["x", "y"],
        ),
        ({"post": get(responses={"200": {"description": "d", **BODY}})}, []),
        ({"post": get(callbacks={"done": {"/cb": {"post": get(requestBody=BODY)}}})}, []),
        ({"post": get(requestBody={"$ref": "#/components/requestBodies/B"})}, ["x"]),
        ({"query": get(requestBody=BODY)}, ["x"]),
        ({"additionalOperations": {"LINK": get(requestBody=BODY), "COPY": get("w")}}, ["x"]),
        ({"additionalOperations": {"LINK": get(responses={"200": {**BODY}})}}, []),
    ],
)
def test_an_operation_is_refused_if_its_requests_need_the_part(
    tmp_path: Path, item: dict[str, Any], refused_ids: list[str]
) -> None:
    components = {
        "schemas": {"A": {"properties": {"b": {"$ref": "#/components/schemas/B"}}}, "B": BROKEN},
        "requestBodies": {"B": BODY},
    }
    paths = {"/x": {**item, "get": get("y")}, "/z": {"get": get("z")}}
    specification, problems = read(tmp_path, document(paths=paths, components=components))
    assert specification is not None
    assert sorted(specification.refusals) == refused_ids
    assert "z" in specification.operations
    assert {p.code for p in problems} == ({"MW202", "MW209"} if refused_ids else {"MW202"})
