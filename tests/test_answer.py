"""What the gateway answers by itself: its list of models, and that it does not relay WebSockets."""

import orjson
import pytest

from engine import answer, dialects
from engine.dialects import ModelCard
from engine.errors import GatewayError
from engine.exchange import Exchange
from engine.tokens import Caller

CARDS = [ModelCard(name, name, "me", 5) for name in ("gpt-4o", "claude", "org/m:x")]
OPENAI, ANTHROPIC, GEMINI = (dialects.get(name) for name in ("openai", "anthropic", "gemini"))
SHARED = (ANTHROPIC, GEMINI, OPENAI)


def exchange(path="/v1/models", query="", caller=None, **environ):
    made = Exchange("GET", path, query, environ)
    made.variables = {"model": (len("/v1/models/"), len(path))}
    made.caller = caller
    made.dialect = answer.speaking(made, SHARED)
    return made


def listed(given):
    response = answer.models(CARDS)(given)
    assert (response.status, response.headers) == (200, [("content-type", "application/json")])
    return orjson.loads(response.body)


def shown(name, caller=None, **environ):
    given = exchange(f"/v1/models/{name}", caller=caller, **environ)
    return orjson.loads(answer.models(CARDS, "model")(given).body)


def test_the_list_has_the_shape_the_request_asks_for():
    assert listed(exchange())["object"] == "list"
    assert "has_more" in listed(exchange(HTTP_ANTHROPIC_VERSION="2023-06-01"))
    assert "models" in listed(exchange(HTTP_X_GOOG_API_KEY="k"))
    assert "models" in listed(exchange(query="key=k"))


def test_the_last_dialect_answers_what_none_claims():
    assert answer.speaking(exchange(), (ANTHROPIC, GEMINI)) is GEMINI


def test_a_caller_sees_only_what_it_may_use():
    found = listed(exchange(caller=Caller("a", ("gpt*", "org/*"))))
    assert [model["id"] for model in found["data"]] == ["gpt-4o", "org/m:x"]
    assert listed(exchange(caller=Caller("a", ())))["data"] == []
    assert len(listed(exchange(caller=Caller("a")))["data"]) == 3


def test_the_query_pages_the_list():
    found = listed(exchange(query="limit=1&after_id=gpt-4o", HTTP_ANTHROPIC_VERSION="x"))
    assert [model["id"] for model in found["data"]] == ["claude"]


@pytest.mark.parametrize("name", ["org/m:x", "org%2Fm:x", "org%2Fm%3Ax", "org/m%3ax"])
def test_a_model_is_shown_however_its_name_is_encoded(name):
    assert shown(name)["id"] == "org/m:x"


def test_a_model_is_shown_in_the_shape_the_request_asks_for():
    assert shown("claude", HTTP_ANTHROPIC_VERSION="x")["type"] == "model"
    assert shown("claude", HTTP_X_GOOG_API_KEY="x")["name"] == "models/claude"


@pytest.mark.parametrize(
    ("name", "caller"), [("claud", None), ("claude", Caller("a", ("gpt*",))), ("x" * 10_000, None)]
)
def test_a_model_that_is_not_there_or_not_allowed_is_404(name, caller):
    with pytest.raises(GatewayError) as raised:
        shown(name, caller)
    error = raised.value
    assert (error.status, error.code, error.param) == (404, "model_not_found", "model")
    assert len(error.message) < 400


def test_a_near_name_is_suggested_when_the_caller_may_use_it():
    with pytest.raises(GatewayError, match="Did you mean 'claude'"):
        shown("claud")
    with pytest.raises(GatewayError) as raised:
        shown("claud", Caller("a", ("gpt*",)))
    assert "claude" not in raised.value.message
