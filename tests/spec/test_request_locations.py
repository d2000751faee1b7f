"""Places of requests in documents, and whether a document and a rule can both be met."""

import jsonschema_rs

from engine.source.problem import Findings
from engine.spec import expression
from engine.spec.document.node import Node
from engine.spec.request_locations import find_location, may_match
from engine.spec.spec import read
from tests.support import paths, yaml_text
from tests.support.each import each

API = paths.CASES / "deny/api.yaml"


def place(operation_id, text):
    specification = read("api", API, "api.yaml", (), Findings())
    operation = specification.operations[operation_id]
    request_place = find_location(operation, specification.node(operation), expression.parse(text))
    return request_place.presence.value, [schema.value for schema in request_place.schemas]


@each(
    ("operation", "text", "presence", "schemas"),
    [
        ("chat", "$request.body#/user", "named", [{"type": "string"}]),
        ("chat", "$request.body#/options/seed", "named", [{"type": "integer"}]),
        ("chat", "$request.body#/messages/0/role", "named", [{"type": "string"}]),
        ("chat", "$request.body#/other", "open", []),
        ("chat", "$request.body#/options/other", "open", []),
        ("chat", "$request.body#/labels/tenant", "named", [{"type": "string"}]),
        ("chat", "$request.body#/labels/taem", "open", []),
        ("chat", "$request.body#/extra/tenant", "named", [None]),
        ("form", "$request.body#/name", "named", [{"type": "string"}, {"type": "string"}]),
        ("items", "$request.body#/n", "none", []),
        ("items", "$request.path.kind", "named", [{"type": "string"}]),
        ("items", "$request.path.other", "none", []),
        ("items", "$request.query.limit", "named", [{"type": "integer"}]),
        ("items", "$request.query.Limit", "open", [{"type": "integer"}]),
        ("items", "$request.header.X-Tier", "named", [{"type": "string"}]),
        ("items", "$request.header.x-other", "open", []),
    ],
)
def test_a_place_in_an_operation(operation, text, presence, schemas):
    assert place(operation, text) == (presence, schemas)


def can_match(document, rule):
    node = Node(None, None, (), yaml_text.load(document))
    schema = yaml_text.load(rule)
    return may_match(node, schema, jsonschema_rs.validator_for(schema).is_valid)


@each(
    ("document", "rule", "expected"),
    [
        ("{}", "{minimum: 2}", True),
        ("{type: string}", "{type: integer}", False),
        ("{type: string}", "{const: 1}", False),
        ("{type: string}", "{const: a}", True),
        ("{type: integer}", "{type: number}", True),
        ("{enum: [a, b]}", "{enum: [b, c]}", True),
        ("{enum: [a, b]}", "{enum: [c]}", False),
        ("{enum: [a, b]}", "{pattern: '^c'}", False),
        ("{const: a}", "{const: b}", False),
        ("{type: integer, maximum: 8}", "{minimum: 8}", True),
        ("{type: integer, maximum: 8}", "{minimum: 9}", False),
        ("{type: integer, maximum: 8}", "{exclusiveMinimum: 8}", False),
        ("{type: integer, exclusiveMaximum: 8}", "{minimum: 8}", False),
        ("{type: integer, minimum: 1}", "{maximum: 0}", False),
        ("{type: integer, minimum: 1}", "{enum: [0, 1]}", True),
        ("{type: integer, minimum: 1}", "{enum: [0, -1]}", False),
        ("{type: [integer, string], maximum: 8}", "{minimum: 9}", True),
        ("{type: string, maxLength: 3}", "{minLength: 4}", False),
        ("{type: array, minItems: 2}", "{maxItems: 1}", False),
        ("{anyOf: [{type: string}, {type: 'null'}]}", "{type: integer}", False),
        ("{anyOf: [{type: string}, {type: integer}]}", "{type: integer}", True),
        ("{type: boolean}", "{const: true}", True),
    ],
)
def test_whether_a_document_and_a_rule_can_both_be_met(document, rule, expected):
    assert can_match(document, rule) is expected
