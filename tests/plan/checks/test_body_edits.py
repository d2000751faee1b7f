"""Edits of bodies are checked against schemas."""

import pytest
from msgspec.structs import replace

from engine.config.transforms import TransformConfig
from engine.plan.checks.body_edits import Bodies, BodyEditCheck, Rules, may_be, note_faults
from engine.source.problem import Findings, Level
from engine.spec.expression import parse
from engine.spec.spec import read
from engine.transforms.compile import compile_transform
from engine.transforms.faults import Faults
from engine.transforms.transform import body_schemas
from tests.support.configs import read_config

OPERATION = """  /{id}:
    post:
      operationId: {id}
      requestBody:
        content: {{application/json: {{schema: {{required: [a], properties: {{{members}}}}}}}}}
      responses: {{}}
"""
DOCUMENT = 'openapi: 3.1.0\ninfo: {title: Shop, version: "1"}\npaths:\n' + "".join(
    OPERATION.format(id=id_, members="a: {type: string}, " + own)
    for id_, own in (
        ("one", "b: {required: [x], properties: {x: {writeOnly: true}}}"),
        ("two", "c: {type: string}"),
    )
)
ERRORS = Rules("request", "MW001", "MW002", "MW003", Level.ERROR)
WARNINGS = Rules("request", "MW001", "MW002", "", Level.WARNING, "a hint", "MW004")


@pytest.fixture(scope="module")
def operations(tmp_path_factory):
    file = tmp_path_factory.mktemp("shop") / "shop.yaml"
    file.write_text(DOCUMENT)
    shop = read("shop", file, "shop.yaml", [], Findings())
    nodes = {each.id: shop.node(each) for each in shop.operations.values()}
    return [Bodies(id_, body_schemas(node), shop) for id_, node in nodes.items()]


def faults(operations, body, rules=ERRORS, **options):
    config = TransformConfig({"request": {"body": body}}, ("transform",))
    found = Faults()
    request = compile_transform(config, upstream=False, faults=Faults()).request
    BodyEditCheck(operations, rules, found, **options).run(request.body)
    return [(fault.code, fault.at[2:], fault.message) for fault in found.found]


def test_an_edit_is_at_fault_once(operations):
    assert faults(operations, {"set": {"a": 1}}) == [
        (
            "MW002",
            ("set", "a"),
            "the value does not fit shop.one: Invalid type for 'a': expected a string",
        )
    ]


def test_nothing_is_missing_where_there_are_bodies_that_nobody_describes(operations):
    edits = {"set": {"x": 1}, "remove": ["y"]}
    assert [code for code, _, _ in faults(operations, edits)] == ["MW001", "MW001"]
    assert faults(operations, edits, is_open=True) == []


def test_requests_and_responses_have_other_members(operations):
    (one, _) = operations
    responses = Bodies(one.id, one.schemas, one.specification, are_responses=True)
    edit = {"set": {"b": {}}}
    assert [code for code, _, _ in faults([one], edit)] == ["MW002"]
    assert faults([responses], edit) == []


@pytest.mark.parametrize(("rules", "codes"), [(ERRORS, ["MW003"]), (WARNINGS, [])])
def test_what_is_required_may_be_taken_away_where_rules_say_so(operations, rules, codes):
    assert [code for code, _, _ in faults(operations, {"remove": ["a"]}, rules)] == codes


@pytest.mark.parametrize(
    ("edits", "codes"),
    [
        ({"default": {"c": "x"}}, ["MW004"]),
        ({"set": {"$.c": "x"}}, ["MW004"]),
        ({"set": {"$..c": "x"}, "remove": ["b"]}, []),
        ({"set": {"a": "x"}}, []),
    ],
)
def test_a_place_is_added_to_no_operation_without_it(operations, edits, codes):
    assert [code for code, _, _ in faults(operations, edits, WARNINGS)] == codes


def test_a_header_is_noted_as_it_is_written():
    text = "upstreams: {one: {url: http://a, transform: {request: {header: {set: {X-Team: x}}}}}}\n"
    config = read_config(text)
    (transform,) = config.upstreams["one"].transform
    found = Faults()
    found.add(("request", "header", "set", "x-team"), "MW001", "wrong")
    findings = Findings()
    note_faults(transform, found, Level.WARNING, config, findings)
    (problem,) = findings.problems
    assert (problem.column, problem.level) == (text.index("x}") + 1, Level.WARNING)


@pytest.mark.parametrize(
    ("steps", "path", "expected"),
    [
        (("model",), ("model",), True),
        (("Model",), ("model",), False),
        (("*",), ("model",), True),
        (("**", "model"), ("model",), True),
        (("**", "*"), ("model",), True),
        (("a", "model"), ("model",), False),
        (("model", "a"), ("model",), False),
        (("**", "model"), ("a", "b", "model"), True),
        (("requests", "0", "model"), ("requests", "*", "model"), True),
        (("requests", "*", "content"), ("requests", "*", "model"), False),
    ],
)
def test_a_place_may_be_that_of_the_model(steps, path, expected):
    assert may_be(steps, path) is expected


@pytest.mark.parametrize("place", ["a", "/a", "$.a", "$['a']", "$.*", "$..a", "$..*"])
def test_no_edit_names_the_model_in_any_spelling(operations, place):
    models = (parse("$request.body#/a"),)
    faults = Faults()
    config = TransformConfig({"request": {"body": {"set": {place: "x"}}}}, ())
    transform = compile_transform(config, upstream=False, faults=faults)
    named = [replace(operation, models=models) for operation in operations]
    BodyEditCheck(named, ERRORS, faults).run(transform.request.body)
    assert [fault.code for fault in faults.found] == ["MW362"]
