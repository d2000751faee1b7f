"""Transforms are checked against the documents of the operations that they edit."""

from pathlib import Path

import pytest

from engine.plan.assembly.make_plan import make_plan
from engine.source.problem import Level

DOCUMENT = """
openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /chat:
    post:
      operationId: chat
      parameters:
        - {name: page, in: query, schema: {type: integer}}
        - {name: key, in: query, required: true, schema: {type: string}}
        - {name: x-level, in: header, required: true, schema: {type: integer}}
      requestBody:
        content:
          application/json:
            schema:
              type: object
              required: [model, messages]
              properties:
                model: {type: string}
                messages: {type: array, items: {type: object, required: [role]}}
                n: {type: integer, maximum: 8}
                kind: {enum: [a, b]}
                stop: {anyOf: [{type: string}, {type: array, items: {type: string}}]}
                extra: {type: object}
      responses:
        "200":
          content:
            application/json: {schema: {$ref: "#/components/schemas/Answer"}}
            text/event-stream:
              schema: {type: string, contentSchema: {$ref: "#/components/schemas/Event"}}
        default: {content: {application/json: {schema: {properties: {error: {type: object}}}}}}
  /other:
    post:
      operationId: other
      requestBody:
        content:
          application/json:
            schema: {properties: {input: {type: string}, n: {type: string}}}
      responses: {}
    get: {operationId: show, responses: {}}
  /third:
    get:
      operationId: third
      responses:
        "200": {content: {application/json: {schema: {properties: {colour: {enum: [red]}}}}}}
components:
  schemas:
    Answer:
      type: object
      required: [id]
      properties:
        id: {type: string}
        kind: {type: string}
        choices: {type: array, items: {type: object, properties: {text: {type: string}}}}
    Event: {type: object, properties: {piece: {type: string}, kind: {const: event}}}
"""


@pytest.fixture(autouse=True)
def document(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.yaml").write_text(DOCUMENT)


def errors(request, *, file="[]", model=""):
    text = f"""version: 1
specs: {{shop: {{document: shop.yaml, dialect: openai}}}}
upstreams: {{one: {{url: "https://1.1.1.1"}}}}
models: {{small: {{to: [{{upstream: one}}]{model}}}}}
policies: {file}
routes:
- operation: shop.chat
  model: $request.body#/model
  policies: [{{transform: {{request: {request}}}}}]
- {{operations: [shop.other, shop.show, shop.third], to: [{{upstream: one}}]}}
"""
    return [
        (p.code, p.message, p.hint) for p in make_plan(Path("g.yaml"), {}, text).findings.errors
    ]


def warnings(body, operations="[shop.chat, shop.third]"):
    text = f"""version: 1
specs: {{shop: {{document: shop.yaml, dialect: openai}}}}
upstreams: {{one: {{url: "https://1.1.1.1"}}}}
routes:
- operations: {operations}
  to: [{{upstream: one}}]
  policies: [{{transform: {{response: {{body: {body}}}}}}}]
"""
    planned = make_plan(Path("g.yaml"), {}, text)
    assert planned.plan is not None
    found = planned.findings.problems
    return [(p.code, p.message, p.hint) for p in found if p.level is Level.WARNING]


@pytest.mark.parametrize(
    "request_edits",
    [
        "{body: {default: {n: 1}, unless: {/n: [kind, /extra/x]}}}",
        "{body: {default: {n: 1, /extra/any/x: 2}, set: {kind: a, stop: x}}}",
        "{body: {set: {n: 8}, remove: ['$.messages[*].name'], rename: {kind: stop}}}",
        "{body: {prepend: {messages: [{role: system}]}, append: {stop: [x]}}}",
        "{body: {set: {kind: '{token.name}', '$..anything': 1}}}",
        "{query: {set: {page: '1', undeclared: x}, default: {key: x}}}",
        "{header: {set: {X-Level: '1', x-undeclared: x}, remove: [x-other]}}",
    ],
)
def test_edits_that_fit_the_document_have_no_problem(request_edits):
    assert errors(request_edits) == []


@pytest.mark.parametrize(
    ("request_edits", "code", "message"),
    [
        ("{body: {default: {max: 1}}}", "MW364", "shop.chat has no 'max'"),
        ("{body: {default: {n: 1}, unless: {n: [max]}}}", "MW364", "shop.chat has no 'max'"),
        ("{body: {remove: [max]}}", "MW364", "shop.chat has no 'max'"),
        ("{body: {rename: {max: n}}}", "MW364", "shop.chat has no 'max'"),
        ("{body: {rename: {n: max}}}", "MW364", "shop.chat has no 'max'"),
        ("{body: {set: {/n/x: 1}}}", "MW364", "shop.chat has no '/n/x'"),
        ("{body: {remove: ['$.n[*]']}}", "MW364", "shop.chat has no '$.n[*]'"),
        ("{body: {set: {n: x}}}", "MW365", "the value does not fit shop.chat: "),
        ("{body: {set: {n: 9}}}", "MW365", "the value does not fit shop.chat: "),
        ("{body: {set: {n: '{token.name}'}}}", "MW365", "'n' of shop.chat cannot be a string"),
        ("{body: {append: {n: [1]}}}", "MW365", "'n' of shop.chat is not an array"),
        ("{body: {append: {messages: [{}]}}}", "MW365", "the value does not fit shop.chat: "),
        ("{body: {append: {stop: [1]}}}", "MW365", "the value does not fit shop.chat: "),
        ("{body: {remove: [messages]}}", "MW366", "'messages' is required by shop.chat"),
        ("{body: {remove: ['$.messages[0].role']}}", "MW366", "'$.messages[0].role' is required"),
        ("{body: {rename: {messages: stop}}}", "MW366", "'messages' is required by shop.chat"),
        ("{body: {rename: {stop: messages}}}", "MW366", "'messages' is required by shop.chat"),
        ("{body: {set: {model: x}}}", "MW362", "'model' names the model of shop.chat"),
        ("{body: {remove: [/model]}}", "MW362", "'/model' names the model of shop.chat"),
        ("{query: {set: {page: x}}}", "MW365", "the value does not fit shop.chat: "),
        ("{header: {set: {X-Level: x}}}", "MW365", "the value does not fit shop.chat: "),
        ("{header: {remove: [X-Level]}}", "MW366", "'x-level' is required by shop.chat"),
        ("{query: {remove: [key]}}", "MW366", "'key' is required by shop.chat"),
    ],
)
def test_edits_that_do_not_fit_the_document_are_noted(request_edits, code, message):
    ((found, words, _),) = errors(request_edits)
    assert found == code
    assert words.startswith(message)


def test_a_name_that_is_misspelt_is_suggested():
    assert errors("{body: {set: {kin: a}}}")[0][2] == "did you mean 'kind'?"


def test_one_of_many_operations_must_have_the_place():
    file = "[{transform: {request: {body: {set: {input: x}}}}}]"
    assert errors("{header: {}}", file=file) == []
    file = "[{transform: {request: {body: {set: {inputs: x}}}}}]"
    message = "shop.chat has no 'inputs', nor has 1 other"
    assert errors("{header: {}}", file=file) == [("MW364", message, "did you mean 'input'?")]


def test_a_value_fits_in_every_operation_that_has_the_place():
    file = "[{transform: {request: {body: {set: {n: 1}}}}}]"
    assert [code for code, _, _ in errors("{header: {}}", file=file)] == ["MW365"]


def test_the_transform_of_a_model_edits_the_operations_that_it_has():
    model = ", transform: {request: {body: {set: {input: x}}}}"
    assert [code for code, _, _ in errors("{header: {}}", model=model)] == ["MW364"]
    model = ", transform: {request: {body: {set: {kind: a}}}}"
    assert errors("{header: {}}", model=model) == []


@pytest.mark.parametrize(
    "body",
    [
        "{remove: [kind, piece, '$.choices[*].text'], set: {colour: red}}",
        "{set: {kind: event}}",
        "{set: {/choices/0/text: y}}",
    ],
)
def test_what_responses_have_is_right(body):
    assert warnings(body) == []


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        (
            "{remove: [pieces]}",
            "MW452",
            "the response of shop.chat has no 'pieces', nor has 1 other",
        ),
        ("{remove: [error]}", "MW452", "the response of shop.chat has no 'error', nor has 1 other"),
        (
            "{rename: {kind: art}}",
            "MW452",
            "the response of shop.chat has no 'art', nor has 1 other",
        ),
        ("{set: {colour: blue}}", "MW453", "the value does not fit the response of shop.third: "),
        (
            "{set: {/choices/0/text: 1}}",
            "MW453",
            "the value does not fit the response of shop.chat",
        ),
        ("{remove: [id]}", "MW454", "'id' is required by the response of shop.chat"),
    ],
)
def test_what_responses_do_not_have_is_a_warning(body, code, message):
    ((found, words, _),) = warnings(body)
    assert found == code
    assert words.startswith(message)


def test_a_place_of_responses_may_be_one_that_documents_do_not_know():
    ((_, _, hint),) = warnings("{remove: [x_of_the_vendor]}")
    assert hint == "if responses do have it, write `# modelway: ignore MW452`"


def test_nothing_is_proved_of_responses_that_no_document_describes():
    assert warnings("{remove: [pieces], set: {colour: red}}", "[shop.*]") == []


@pytest.mark.parametrize("value", ["hush" * 30, "hush'\\"])
def test_the_value_of_a_variable_is_in_no_message(value):
    text = """version: 1
specs: {shop: {document: shop.yaml}}
upstreams: {one: {url: "https://1.1.1.1"}}
policies: [{transform: {request: {body: {set: {n: "${VALUE}"}}, query: {set: {page: "${VALUE}"}}}}}]
routes: [{operation: shop.chat, to: [{upstream: one}]}]
"""
    found = make_plan(Path("g.yaml"), {"VALUE": value}, text).findings.errors
    assert [problem.code for problem in found] == ["MW365", "MW365"]
    assert not any("hush" in problem.message for problem in found)
