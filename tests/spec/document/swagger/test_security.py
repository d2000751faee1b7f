"""Security definitions of Swagger 2.0."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.spec.document.swagger.security import scheme_of
from engine.spec.security import BASIC, BEARER, Carrier
from tests.support.each import each
from tests.support.swagger import only, read_swagger, swagger

OAUTH2 = {"type": "oauth2", "flow": "accessCode", "tokenUrl": "t", "scopes": {}}


@each(
    ("definition", "carriers"),
    [
        ({"type": "basic"}, (BASIC, BEARER)),
        ({"type": "apiKey", "in": "header", "name": "X-Key"}, (Carrier("header", "x-key"),)),
        ({"type": "apiKey", "in": "query", "name": "key"}, (Carrier("query", "key"),)),
        (OAUTH2, (BEARER,)),
    ],
)
def test_a_token_is_where_the_definition_says(
    tmp_path: Path, definition: Any, carriers: tuple[Carrier, ...]
) -> None:
    value = swagger(securityDefinitions={"s": definition}, security=[{"s": []}])
    assert only(tmp_path, value).carriers == carriers


def test_an_unknown_name_is_to_be_defined_where_swagger_has_it(tmp_path: Path) -> None:
    _, problems = read_swagger(tmp_path, swagger(security=[{"s": []}]))
    assert ["securityDefinitions" in p.hint for p in problems if p.code == "MW211"] == [True]


def test_a_flow_has_the_name_of_openapi_3() -> None:
    flow = {"tokenUrl": "t", "scopes": {}}
    assert scheme_of(OAUTH2) == {"type": "oauth2", "flows": {"authorizationCode": flow}}
