"""The table of the gateway's own answers: a second one is in every place that reads the table."""

import json

import pytest
from falcon.testing import TestClient

from engine.app.build import build
from engine.app.services.worker_services import services_of
from engine.cli import schema
from engine.edge import answers
from engine.edge.answers.own_answer import AnswerSources, OwnAnswer
from engine.exchange.exchange import Exchange, Response
from engine.plan.assembly.make_plan import make_plan
from tests.support.paths import ROOT
from tests.support.rehearsing import CONFIG, DOCUMENT, ENVIRON, SECRET, planned, write

TOKEN = {"Authorization": f"Bearer {SECRET}"}
ROUTE = "  - {operation: shop.show, answer: greeting}\n"
OWN = CONFIG.replace("  - {operation: shop.show, to: [{upstream: main}], auth: none}\n", ROUTE)


def greet(sources: AnswerSources):
    def handle(exchange: Exchange) -> Response:
        names = [dialect.name for dialect in sources.dialects]
        greeting = {"hello": exchange.variable(sources.variable), "dialects": names}
        return Response(200, [("content-type", "application/json")], json.dumps(greeting).encode())

    return handle


GREETING = OwnAnswer("greeting", "with a greeting", greet)


@pytest.fixture
def greeting(monkeypatch):
    """A second answer in the table."""
    monkeypatch.setattr(answers, "ANSWERS", (*answers.ANSWERS, GREETING))


def errors(folder, config):
    findings = make_plan(write(folder, config), ENVIRON).findings
    return [(p.code, p.message, p.hint) for p in findings.errors]


def test_the_names_are_different_and_each_answer_is_found():
    assert len(set(answers.names())) == len(answers.ANSWERS)
    assert [answers.get(name) for name in answers.names()] == [*answers.ANSWERS]
    assert answers.get("greeting") is None


@pytest.mark.parametrize("answer", answers.ANSWERS, ids=answers.names())
def test_every_answer_is_in_the_manual(answer):
    page = (ROOT / "docs" / "reference" / "operations.md").read_text("utf-8")
    assert f"- `answer: {answer.name}`" in page


def test_an_answer_that_is_not_in_the_table_is_one_error(tmp_path):
    names = "models, client_secrets, responses, usage, usage_requests"
    assert errors(tmp_path, OWN) == [("MW104", f"'answer' must be one of {names}", "")]


@pytest.mark.usefixtures("greeting")
def test_a_second_answer_is_served(tmp_path):
    plan = planned(tmp_path, OWN).plan
    (route,) = (route for route in plan.routes if route.answer is not None)
    assert (route.answer, route.destination) == (GREETING, "by the gateway (greeting)")
    client = TestClient(build(plan, services_of(plan)))
    answer = client.simulate_get("/v1/items/7", headers=TOKEN)
    assert answer.json == {"hello": "7", "dialects": ["openai"]}
    assert client.simulate_get("/v1/items/x", headers=TOKEN).status_code == 400
    assert client.simulate_get("/v1/items/7").status_code == 401


@pytest.mark.usefixtures("greeting")
def test_the_schema_and_the_hints_have_a_second_answer(tmp_path):
    route = json.loads(schema.text(expanded=True))["$defs"]["route"]
    assert route["properties"]["answer"]["enum"] == [
        "models",
        "client_secrets",
        "responses",
        "usage",
        "usage_requests",
        "greeting",
    ]
    assert "`greeting`: with a greeting." in schema.reference()
    nowhere = OWN.replace(", answer: greeting", "")
    assert [hint for _, _, hint in errors(tmp_path, nowhere)] == [
        "model: for requests that name one; to: for a fixed upstream; "
        "answer: models or client_secrets or responses or usage or usage_requests or greeting; "
        "respond: for a fixed response"
    ]
    (near,) = errors(tmp_path, OWN.replace("answer: greeting", "answer: greting"))
    assert near == (
        "MW104",
        f"'answer' must be one of {', '.join(answers.names())}",
        "did you mean 'greeting'?",
    )


SECOND = DOCUMENT.replace("operationId: show", "operationId: other")


@pytest.mark.usefixtures("greeting")
@pytest.mark.parametrize(("in_every_dialect", "codes"), [(False, ["MW304"]), (True, [])])
def test_paths_are_shared_by_an_answer_in_every_dialect(
    tmp_path, monkeypatch, in_every_dialect, codes
):
    answer = OwnAnswer("greeting", "", greet, in_every_dialect=in_every_dialect)
    monkeypatch.setattr(answers, "ANSWERS", (answer,))
    (tmp_path / "other.yaml").write_text(SECOND)
    config = OWN.replace("specs: {", "specs: {other: {document: other.yaml}, ")
    config = config.replace("shop.show,", "[shop.show, other.other],")
    config = config.replace("operation: [", "operations: [")
    problems = make_plan(write(tmp_path, config), ENVIRON).findings.errors
    assert [problem.code for problem in problems] == codes


@pytest.mark.usefixtures("greeting")
@pytest.mark.parametrize(("wide", "status"), [(False, 404), (True, 400)])
def test_the_variables_of_an_answer_may_be_wide(tmp_path, monkeypatch, wide, status):
    answer = OwnAnswer("greeting", "", greet, has_slash_variables=wide)
    monkeypatch.setattr(answers, "ANSWERS", (answer,))
    plan = planned(tmp_path, OWN).plan
    client = TestClient(build(plan, services_of(plan)))
    assert client.simulate_get("/v1/items/7/8", headers=TOKEN).status_code == status
