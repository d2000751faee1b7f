"""Operations of two documents side by side, and their parts."""

import pytest

from engine.offline.diff.difference import Side
from engine.offline.diff.operation_pairs import media, of_type, pairs, parameters
from tests.offline.diff.test_difference import CONFIG, DOCUMENT
from tests.support.documents import document, get, library
from tests.support.rehearsing import planned

CHAT = "  - {operation: shop.chat, model: $request.body#/model}\n"


def node_at(item, *steps):
    """A node below `/a` of a document."""
    node = library(document(paths={"/a": item})).document.get("paths").step("/a")
    for step in steps:
        node = node.get(step)
    return node


def parameter(name, place="query", **more):
    return {"name": name, "in": place, "schema": {}, **more}


def test_the_operations_that_both_sides_serve_are_paired(tmp_path):
    side = Side.of(planned(tmp_path / "old", CONFIG, DOCUMENT))
    without_chat = Side.of(planned(tmp_path / "new", CONFIG.replace(CHAT, ""), DOCUMENT))
    assert [pair.name for pair in pairs(side, side)] == ["shop.chat", "shop.show"]
    assert [pair.name for pair in pairs(side, without_chat)] == ["shop.show"]


def test_a_pair_has_the_nodes_of_both_documents(tmp_path):
    old = Side.of(planned(tmp_path / "old", CONFIG, DOCUMENT))
    text = DOCUMENT.replace("operationId: show", "summary: new\n      operationId: show")
    new = Side.of(planned(tmp_path / "new", CONFIG, text))
    pair = next(pair for pair in pairs(old, new) if pair.name == "shop.show")
    assert (pair.old.text("summary"), pair.new.text("summary")) == ("", "new")


def test_parameters_of_the_path_are_those_of_its_operations():
    item = {"parameters": [parameter("page")], "get": get(parameters=[parameter("x", "header")])}
    assert set(parameters(node_at(item, "get"))) == {("query", "page"), ("header", "x")}


def test_a_parameter_of_the_operation_comes_before_one_of_the_path():
    own = parameter("page", required=True)
    item = {"parameters": [parameter("page")], "get": get(parameters=[own])}
    assert parameters(node_at(item, "get"))["query", "page"].value == own


def test_schemas_are_known_by_media_types_without_parameters():
    content = {"application/json; charset=utf-8": {"schema": {"type": "object"}}, "text/plain": {}}
    body = node_at({"post": get(requestBody={"content": content})}, "post", "requestBody")
    schemas = {name: [node.value for node in part] for name, part in media(body).items()}
    assert schemas == {"application/json": [{"type": "object"}], "text/plain": []}


@pytest.mark.parametrize(
    ("name", "entry"),
    [("application/json", 1), ("application/x+json", 2), ("application/x", 3), ("text/x", 4)],
)
def test_a_media_type_is_that_of_the_narrowest_range(name, entry):
    table = {"application/json": 1, "application/*+json": 2, "application/*": 3, "*/*": 4}
    assert of_type(name, table) == entry
    assert of_type(name, {"image/png": 1}) is None
