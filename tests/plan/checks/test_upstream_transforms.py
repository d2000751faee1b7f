"""Transforms of upstreams and targets are checked against the operations that they edit."""

from pathlib import Path

import pytest

from engine.plan.assembly.make_plan import make_plan
from engine.source.problem import Level

CHAT = """
  {path}:
    post:
      operationId: {id}
      parameters:
        - {{name: page, in: query, schema: {{type: integer}}}}
      requestBody:
        content:
          application/json:
            schema: {{type: object, required: [model, messages], properties: {{{members}}}}}
      responses:
        "200":
          content: {{application/json: {{schema: {{properties: {{answer: {{type: string}}}}}}}}}}
"""
HEAD = 'openapi: 3.1.0\ninfo: {title: Shop, version: "1"}\npaths:'
OPENAI = HEAD + "".join(
    CHAT.format(path=path, id=id_, members="model: {type: string}, messages: {type: array}, " + own)
    for path, id_, own in (
        ("/chat/completions", "chat", "n: {type: integer, maximum: 8}, stop: {type: string}"),
        ("/responses", "respond", "n: {type: integer}, store: {type: boolean}"),
        ("/embeddings", "embed", "size: {type: integer}"),
    )
)
ANTHROPIC = HEAD + CHAT.format(
    path="/messages", id="message", members="messages: {type: array}, max_tokens: {type: integer}"
)


@pytest.fixture(autouse=True)
def documents(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "openai.yaml").write_text(OPENAI)
    (tmp_path / "anthropic.yaml").write_text(ANTHROPIC)


NOTHING = "{request: {header: {set: {x-a: b}}}}"
UPSTREAMS = {
    "one": 'url: "https://1.1.1.1", dialect: openai',
    "claude": 'url: "https://1.1.1.2", dialect: anthropic',
    "conv": "provider: bedrock, credential: {bearer: x}",
    "bed": "provider: bedrock-claude, credential: {bearer: x}",
}


def problems(transform, *, at="one", target=NOTHING, routed="[openai.chat]"):
    """The warnings about the transforms of the upstream `at` and of the target there."""
    text = f"""version: 1
specs:
  openai: {{document: openai.yaml, dialect: openai}}
  anthropic: {{document: anthropic.yaml, dialect: anthropic}}
upstreams: {{up: {{{UPSTREAMS[at]}, transform: {transform}}}}}
models: {{m: {{to: [{{upstream: up, transform: {target}}}], operations: [openai.chat, "*.embed"]}}}}
routes: [{{operations: {routed}, model: $request.body#/model}}]
"""
    planned = make_plan(Path("g.yaml"), {}, text)
    assert planned.plan is not None, planned.findings.errors
    codes = ("MW45", "MW36")
    found = [p for p in planned.findings.problems if p.code.startswith(codes)]
    assert all(problem.level is Level.WARNING for problem in found)
    return [(p.code, p.message, p.hint) for p in found]


def request(body):
    return f"{{request: {{body: {body}}}}}"


@pytest.mark.parametrize(
    "transform",
    [
        "{request: {body: {remove: [model, messages], set: {n: 8, stop: '{target.model}'}}}}",
        "{request: {query: {set: {page: '1', api-version: x}}}}",
        "{request: {body: {rename: {stop: n}, append: {messages: [{role: user}]}}}}",
        "{response: {body: {set: {answer: x}}}}",
    ],
)
def test_what_an_operation_of_the_upstream_has_is_right(transform):
    assert problems(transform) == []


@pytest.mark.parametrize(
    ("transform", "code", "message"),
    [
        (request("{set: {stopp: x}}"), "MW450", "openai.chat has no 'stopp'"),
        (request("{remove: [size]}"), "MW450", "openai.chat has no 'size'"),
        (
            request("{set: {n: 9}}"),
            "MW451",
            "the value does not fit openai.chat: Invalid value for",
        ),
        (request("{set: {n: '{model}'}}"), "MW451", "'n' of openai.chat cannot be a string"),
        ("{request: {query: {set: {page: x}}}}", "MW451", "the value does not fit openai.chat: "),
        ("{response: {body: {remove: [anwer]}}}", "MW452", "the response of openai.chat has no"),
        ("{response: {body: {set: {answer: 1}}}}", "MW453", "the value does not fit the response"),
    ],
)
def test_what_no_operation_of_the_upstream_has_is_a_warning(transform, code, message):
    ((found, words, _),) = problems(transform)
    assert found == code
    assert words.startswith(message)


def test_an_upstream_may_have_what_no_document_says():
    ((_, _, hint),) = problems(request("{set: {x_of_the_vendor: 1}}"))
    assert hint == "if the upstream does have it, write `# modelway: ignore MW450`"


@pytest.mark.parametrize("edit", ["default: {stop: x}", "set: {stop: x}"])
def test_a_place_that_is_added_to_operations_without_it_is_a_warning(edit):
    (problem,) = problems(request(f"{{{edit}}}"), routed="[openai.chat, openai.embed]")
    message = "openai.embed has no 'stop': it is added anyway"
    assert problem[:2] == ("MW455", message)


def test_a_place_is_taken_away_only_where_there_is_one():
    edits = "{remove: [stop], rename: {size: n}}"
    assert problems(request(edits), routed="[openai.chat, openai.embed]") == []


def test_the_transform_of_a_target_is_proved_too():
    (problem,) = problems(NOTHING, target=request("{set: {size: 1}}"))
    assert problem[:2] == ("MW450", "openai.chat has no 'size'")


def test_a_target_of_a_route_is_proved_too():
    text = f"""version: 1
specs: {{openai: {{document: openai.yaml, dialect: openai}}}}
upstreams: {{one: {{url: "https://1.1.1.1", dialect: openai}}}}
routes:
- operation: openai.chat
  to: [{{upstream: one, transform: {request("{set: {size: 1}}")}}}]
"""
    found = make_plan(Path("g.yaml"), {}, text).findings.problems
    assert [p.message for p in found if p.code == "MW450"] == ["openai.chat has no 'size'"]


def test_a_translated_request_has_what_the_document_of_its_language_says():
    (problem,) = problems(request("{set: {max_tokens: 5, stop: x}}"), at="claude")
    assert problem[:2] == ("MW450", "anthropic.message has no 'stop'")


def test_nothing_is_proved_of_a_language_that_no_document_describes():
    assert problems(request("{set: {anything: 5}}"), at="conv") == []


def test_the_transforms_of_providers_are_not_proved():
    assert problems(NOTHING, at="bed") == []
