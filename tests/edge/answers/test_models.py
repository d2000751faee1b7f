"""`answer: models`: the list of models, and one of them."""

import orjson
import pytest

from engine.edge.answers import models
from engine.edge.answers.own_answer import AnswerSources
from engine.edge.falcon_responder import dialect_of
from engine.values.caller import Caller
from engine.values.errors import GatewayError
from tests.support.exchanges import new_exchange
from tests.support.model_lists import ANTHROPIC, GEMINI, SHARED, visible_models

VISIBLE = visible_models("gpt-4o", "claude", "org/m:x")


def exchange(path="/v1/models", query="", caller=None, **environ):
    dialect = dialect_of(environ, query, SHARED)
    variables = {"model": (len("/v1/models/"), len(path))}
    return new_exchange(
        "GET", path, query, environ, dialect=dialect, variables=variables, caller=caller
    )


def listed(request, among=VISIBLE):
    response = models.handler(AnswerSources(among, SHARED))(request)
    assert (response.status, response.headers) == (200, [("content-type", "application/json")])
    return orjson.loads(response.body)


def model(name, caller=None, among=VISIBLE, **environ):
    request = exchange(f"/v1/models/{name}", caller=caller, **environ)
    return orjson.loads(models.handler(AnswerSources(among, SHARED, "model"))(request).body)


def test_the_list_has_the_shape_the_request_asks_for():
    assert listed(exchange())["object"] == "list"
    assert "has_more" in listed(exchange(HTTP_ANTHROPIC_VERSION="2023-06-01"))
    assert "models" in listed(exchange(HTTP_X_GOOG_API_KEY="k"))
    assert "models" in listed(exchange(query="key=k"))


def test_the_last_dialect_answers_what_none_claims():
    assert dialect_of({}, "", (ANTHROPIC, GEMINI)) is GEMINI


def test_a_caller_sees_only_what_it_may_use():
    answer = listed(exchange(caller=Caller("a", ("gpt*", "org/*"))))
    assert [entry["id"] for entry in answer["data"]] == ["gpt-4o", "org/m:x"]
    assert listed(exchange(caller=Caller("a", ())))["data"] == []
    assert len(listed(exchange(caller=Caller("a")))["data"]) == 3


def test_the_query_pages_the_list():
    answer = listed(exchange(query="limit=1&after_id=gpt-4o", HTTP_ANTHROPIC_VERSION="x"))
    assert [entry["id"] for entry in answer["data"]] == ["claude"]


def test_a_list_has_the_models_that_can_be_called_in_its_dialect():
    among = visible_models("both", gpt="openai", claude="anthropic")
    assert [entry["id"] for entry in listed(exchange(), among)["data"]] == ["both", "gpt"]
    answer = listed(exchange(HTTP_ANTHROPIC_VERSION="x"), among)
    assert [entry["id"] for entry in answer["data"]] == ["both", "claude"]
    answer = listed(exchange(HTTP_X_GOOG_API_KEY="k"), among)
    assert [entry["baseModelId"] for entry in answer["models"]] == ["both"]


def test_a_list_that_was_made_for_one_token_is_not_shown_to_another():
    for caller in (None, Caller("a", ("gpt*",)), Caller("b", ("claude",)), None, Caller("c", ())):
        names = ("gpt-4o", "claude", "org/m:x")
        expected = {name for name in names if caller is None or caller.may_use(name)}
        for _ in range(2):
            assert {entry["id"] for entry in listed(exchange(caller=caller))["data"]} == expected


def test_a_model_tells_the_methods_of_its_operations():
    assert model("claude", HTTP_X_GOOG_API_KEY="x")["supportedGenerationMethods"] == [
        "generateContent",
        "embedContent",
    ]


WILD = {"gpt-*": "openai", "claude-*": "anthropic", "claude-best": "anthropic"}


def test_a_model_that_a_wildcard_serves_is_shown_and_not_listed():
    among = visible_models(**WILD)
    assert listed(exchange(), among)["data"] == []
    assert model("gpt-9", among=among)["id"] == "gpt-9"
    assert model("claude-9", among=among, HTTP_ANTHROPIC_VERSION="x")["display_name"] == "claude-9"
    caller = Caller("a", ("gpt-9",))
    assert model("gpt-9", caller, among)["id"] == "gpt-9"
    with pytest.raises(GatewayError, match="does not exist here"):
        model("gpt-8", caller, among)


def test_a_model_that_cannot_be_called_in_a_dialect_is_not_found_there():
    with pytest.raises(GatewayError) as excinfo:
        model("claude-9", among=visible_models(**WILD))
    assert (excinfo.value.status, excinfo.value.code) == (404, "model_not_found")
    assert "it has anthropic.messages." in excinfo.value.message


@pytest.mark.parametrize("name", ["org/m:x", "org%2Fm:x", "org%2Fm%3Ax", "org/m%3ax"])
def test_a_model_is_shown_however_its_name_is_encoded(name):
    assert model(name)["id"] == "org/m:x"


def test_a_model_is_shown_in_the_shape_the_request_asks_for():
    assert model("claude", HTTP_ANTHROPIC_VERSION="x")["type"] == "model"
    assert model("claude", HTTP_X_GOOG_API_KEY="x")["name"] == "models/claude"


@pytest.mark.parametrize(
    ("name", "caller"), [("claud", None), ("claude", Caller("a", ("gpt*",))), ("x" * 10_000, None)]
)
def test_a_model_that_is_not_there_or_not_allowed_is_404(name, caller):
    with pytest.raises(GatewayError) as excinfo:
        model(name, caller)
    error = excinfo.value
    assert (error.status, error.code, error.param) == (404, "model_not_found", "model")
    assert len(error.message) < 400


def test_a_near_name_is_suggested_when_the_caller_may_use_it():
    with pytest.raises(GatewayError, match="Did you mean 'claude'"):
        model("claud")
    with pytest.raises(GatewayError) as excinfo:
        model("claud", Caller("a", ("gpt*",)))
    assert "claude" not in excinfo.value.message
