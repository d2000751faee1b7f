"""Path keys that are not path templates."""

from __future__ import annotations

from pathlib import Path

from engine.spec.document import path_keys
from tests.support.documents import document, get, library, warning_codes
from tests.support.each import each


@each(
    ("path", "code"),
    [
        ("x", "MW205"),
        ("/<upload_url", None),
        ("/a//b", "MW205"),
        ("/v1/messages?beta=true", "MW228"),
        ("/<upload_url>", "MW228"),
        ("/a?b=<c", "MW228"),
        ("/a#stream", "MW228"),
        ("#stream", "MW205"),
        ("/{a}/{a}", "MW205"),
        ("/{}", "MW205"),
        ("/{a}{b}", "MW205"),
        ("/{a", "MW205"),
    ],
)
def test_an_odd_path_is_a_problem(tmp_path: Path, path: str, code: str | None) -> None:
    result_codes = warning_codes(
        tmp_path, document(paths={path: {"get": get()}, "/y": {"get": get("y")}})
    )
    assert result_codes == ([code] if code else [])


@each(
    ("key", "address"),
    [
        ("/v1/x?beta=true", ("/v1/x", (("beta", "true"),), ())),
        ("/v1/x?op=a&n={n}", ("/v1/x", (("op", "a"),), ())),
        ("/v1/x?a={a}&b={b-1}", ("/v1/x", (), ())),
        ("/v1/x#stream", ("/v1/x", (), ())),
        ("/v1/x?beta=true#a?b=c", ("/v1/x", (("beta", "true"),), ())),
        ("/login - with a code", ("/login", (), ())),
        ("/rooms/{id}/invite ", ("/rooms/{id}/invite", (), ())),
        ("/a b", ("/a b", (), ())),
        ("/a - b/{c}", ("/a - b/{c}", (), ())),
        ("/<id>/x", ("/{id}/x", (), ())),
        ("/v1/{name=models/*}:run", ("/v1/models/{name}:run", (), ())),
        ("/v1/{name=a/*/b/*}", ("/v1/a/{name}/b/{name_2}", (), ())),
        ("/v1/{name=**}", ("/v1/{name}", (), ("name",))),
        ("/plain/{id}", ("/plain/{id}", (), ())),
        ("/{proxy+}", ("/{proxy}", (), ("proxy",))),
        ("/a/{+path}/b", ("/a/{path}/b", (), ("path",))),
        ("/a/{*path}", ("/a/{path}", (), ("path",))),
        ("/a/{**path}", ("/a/{path}", (), ("path",))),
        ("/a/{list*}/{.format}{;m*}", ("/a/{list}/{format}{m}", (), ())),
        ("/a/{id:[0-9]{2,4}}/b", ("/a/{id}/b", (), ())),
        (r"/a/{id:\d+}", ("/a/{id}", (), ())),
        ("/a/{id}{?page,limit}", ("/a/{id}", (), ())),
        ("/a{?page*}{&q}", ("/a", (), ())),
        ("/a/{fhir:id}", ("/a/{fhir:id}", (), ())),
        ("/a/{id}:run", ("/a/{id}:run", (), ())),
    ],
)
def test_a_path_key_is_a_template_a_query_and_slash_variables(key: str, address: object) -> None:
    result = path_keys.read(key)
    assert (result.template, result.query, result.slash_variables) == address
    assert bool(result.repairs) == (result.template != key)


@each(
    ("key", "parameter", "slash_variables"),
    [
        ("/files/{path}", {}, ("path",)),
        ("/things/{id}/attributes/{attributePath}", {}, ("attributePath",)),
        ("/files/{path}/x", {}, ()),
        ("/files/{id}", {}, ()),
        ("/files/{id}", {"x-multi-segment": True}, ("id",)),
        ("/files/{id}", {"allowReserved": True}, ("id",)),
    ],
)
def test_a_last_variable_may_take_the_rest_of_the_path(
    key: str, parameter: dict[str, bool], slash_variables: tuple[str, ...]
) -> None:
    declared = {"name": "id", "in": "path", **parameter}
    item = library(document(paths={key: {"get": get(parameters=[declared])}})).document
    item = item.get("paths").get(key)
    assert (
        path_keys.add_slash_variable(path_keys.read(key), item.get("get"), item).slash_variables
        == slash_variables
    )


@each(
    ("key", "other", "slash_variables"),
    [
        ("/files/{filePath}", "/files/{id}/secret", ()),
        ("/files/{filePath}", "/files/{id}", ("filePath",)),
        ("/files/{file_path}", "/files/{file_path}/raw", ("file_path",)),
    ],
)
def test_a_variable_above_other_paths_is_one_segment(
    key: str, other: str, slash_variables: tuple[str, ...]
) -> None:
    paths = {key: {"get": get()}, other: {"get": get(operationId="other")}}
    item = library(document(paths=paths)).document.get("paths").get(key)
    address = path_keys.add_slash_variable(path_keys.read(key), item.get("get"), item)
    assert address.slash_variables == slash_variables
