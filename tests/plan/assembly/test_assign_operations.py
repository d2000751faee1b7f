"""Which route serves which operation."""

from pathlib import Path

import pytest

from engine.plan.assembly.make_plan import make_plan
from engine.source.problem import Level

DOCUMENT = """
openapi: 3.1.0
info: {title: Shop, version: "1"}
servers: [{url: /v1}]
paths:
  /a: {get: {operationId: getA, responses: {}}, post: {operationId: makeA, responses: {}}}
  /b: {get: {operationId: getB, responses: {}}, delete: {responses: {}}}
"""
HEAD = """version: 1
specs: {shop: {document: shop.yaml}}
upstreams: {one: {url: "http://1.1.1.1"}, two: {url: "http://2.2.2.2"}}
routes:
"""


@pytest.fixture(autouse=True)
def document(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.yaml").write_text(DOCUMENT)


def plan_of(*routes):
    """Each route is `name name ... -> upstream`."""
    lines = []
    for route in routes:
        names, _, upstream = route.partition(" -> ")
        listed = ", ".join(f"'{name}'" for name in names.split("+"))
        lines.append(f"  - {{operations: [{listed}], to: [{{upstream: {upstream}}}]}}\n")
    return make_plan(Path("gateway.yaml"), {}, HEAD + "".join(lines))


def upstreams_of(*routes):
    planned = plan_of(*routes)
    assert planned.plan is not None, planned.problems
    return {route.operation.name: route.to[0].upstream for route in planned.plan.routes}


def errors(*routes):
    return [(p.line, p.code) for p in plan_of(*routes).findings.errors]


def test_a_wildcard_takes_every_operation_of_a_document():
    assert upstreams_of("shop.* -> one") == dict.fromkeys(
        ["getA", "makeA", "getB", "DELETE /b"], "one"
    )


@pytest.mark.parametrize("order", [1, -1])
def test_a_named_operation_comes_before_a_wildcard_whatever_the_order(order):
    routes = ["shop.* -> one", "shop.getB -> two"][::order]
    assert upstreams_of(*routes)["getB"] == "two"
    assert upstreams_of(*routes)["getA"] == "one"


def test_a_wildcard_takes_a_part_of_a_name():
    assert set(upstreams_of("shop.get* -> one")) == {"getA", "getB"}


def test_an_operation_without_an_id_is_known_by_its_method_and_path():
    assert upstreams_of("shop.DELETE /b -> one") == {"DELETE /b": "one"}


def test_routes_keep_the_order_of_the_file():
    assert list(upstreams_of("shop.getB -> one", "shop.getA -> one")) == ["getB", "getA"]


def test_operations_without_a_route_are_one_info_of_their_document():
    planned = plan_of("shop.getA+shop.getB+shop.DELETE /b -> one", "shop.makeA -> two")
    assert [p for p in planned.problems if p.level is Level.INFO] == []
    infos = [p for p in plan_of("shop.getA -> one").problems if p.level is Level.INFO]
    assert [(p.file, p.line, p.column, p.message) for p in infos] == [
        (
            "shop.yaml",
            5,
            1,
            "no route serves 3 of 4 operations: shop.makeA, shop.getB, shop.DELETE /b",
        ),
    ]


def test_infos_and_warnings_stop_nothing():
    assert plan_of("shop.getA -> one").plan is not None


@pytest.mark.parametrize(
    ("routes", "expected"),
    [
        (["shop.getA -> one", "shop.getA -> two"], [(6, "MW303")]),
        (["shop.get* -> one", "shop.*A -> two"], [(6, "MW303")]),
        (["shop.getA -> one", "shop.getA* -> two"], [(6, "MW302")]),
        (["shop.put* -> one"], [(5, "MW302")]),
        (["shop.getZ -> one"], [(5, "MW301")]),
        (["getA -> one"], [(5, "MW301")]),
        (["shop. -> one"], [(5, "MW301")]),
        (["SHOP.getA -> one"], [(5, "MW301")]),
    ],
)
def test_a_route_without_operations_or_with_those_of_another_is_an_error_on_its_line(
    routes, expected
):
    assert errors(*routes) == expected


def test_an_operation_only_a_wildcard_would_serve_twice_is_told_once_per_operation():
    planned = plan_of("shop.* -> one", "shop.* -> two")
    assert sorted(p.message for p in planned.findings.errors) == [
        "two routes for shop.DELETE /b",
        "two routes for shop.getA",
        "two routes for shop.getB",
        "two routes for shop.makeA",
    ]


def test_only_the_star_is_a_wildcard():
    assert errors("shop.get? -> one") == [(5, "MW301")]
    assert errors("shop.get[AB]* -> one") == [(5, "MW302")]


def hosted(*routes):
    """The upstreams of each operation at each host; each route is `names @ hosts -> upstream`."""
    lines = []
    for route in routes:
        names, _, rest = route.partition(" @ ")
        hosts, _, upstream = rest.partition(" -> ")
        listed = f", hosts: [{hosts}]" if hosts else ""
        lines.append(f"  - {{operations: ['{names}'], to: [{{upstream: {upstream}}}]{listed}}}\n")
    return make_plan(Path("gateway.yaml"), {}, HEAD + "".join(lines))


def test_an_operation_has_a_route_for_each_host():
    planned = hosted("shop.getA @  -> one", "shop.getA @ a.test -> two", "shop.* @ a.test -> one")
    assert planned.plan is not None, planned.problems
    names = {route.name: route.to[0].upstream for route in planned.plan.routes}
    assert names == {
        "shop.getA": "one",
        "shop.getA at a.test": "two",
        "shop.makeA at a.test": "one",
        "shop.getB at a.test": "one",
        "shop.DELETE /b at a.test": "one",
    }


def test_a_wildcard_keeps_the_hosts_that_no_route_names():
    planned = hosted(
        "shop.getA @ a.test -> one", "shop.* @ 'a.test, b.test' -> two".replace("'", "")
    )
    assert planned.plan is not None, planned.problems
    assert {r.name for r in planned.plan.routes if r.operation.name == "getA"} == {
        "shop.getA at a.test",
        "shop.getA at b.test",
    }


def test_two_routes_for_one_host_are_an_error():
    planned = hosted("shop.getA @ a.test -> one", "shop.getA @ A.test, b.test -> two")
    assert [p.message for p in planned.findings.errors] == ["two routes for shop.getA at a.test"]
