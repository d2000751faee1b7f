"""What the gateway answers by itself: its list of models."""

from types import SimpleNamespace

import orjson
import pytest

from engine import dialects
from engine.config.model_operations import ModelOperation, ModelOperations
from engine.config.models import Model, TargetConfig
from engine.edge import model_list
from engine.edge.visible_models import Answers, VisibleModels
from engine.values.caller import Caller
from engine.values.errors import GatewayError
from tests.support.exchanges import new_exchange
from tests.support.upstreams import Client, upstream

OPENAI, ANTHROPIC, GEMINI = (dialects.get(name) for name in ("openai", "anthropic", "gemini"))
SHARED = (ANTHROPIC, GEMINI, OPENAI)
OPERATIONS = (
    ModelOperation("openai.chat", "openai"),
    ModelOperation("openai.embed", "openai"),
    ModelOperation("anthropic.messages", "anthropic"),
    ModelOperation("gemini.generate", "gemini", "/models/{model}:generateContent"),
    ModelOperation("gemini.embed", "gemini", "/models/{model}:embedContent"),
)


def shown_models(*names, **narrowed):
    """Models at an upstream that speaks every dialect; `name=dialect` speaks that one."""
    upstreams = {name: upstream(Client(), name=name, dialect=name) for name in dialects.names()}
    upstreams["any"] = upstream(Client(), name="any", dialect="")
    models = {}
    for name in (*names, *narrowed):
        to = (TargetConfig(narrowed.get(name, "any"), "", 1.0, ()),)
        models[name] = Model(name, to, (), name, "me", 5, ())
    config = SimpleNamespace(models=models)
    return VisibleModels(config, ModelOperations(models, upstreams, OPERATIONS))


SHOWN = shown_models("gpt-4o", "claude", "org/m:x")


def exchange(path="/v1/models", query="", caller=None, **environ):
    made = new_exchange("GET", path, query, environ)
    made.variables = {"model": (len("/v1/models/"), len(path))}
    made.caller = caller
    made.dialect = model_list.speaking(made, SHARED)
    return made


def listed(given, shown=SHOWN):
    response = model_list.models(shown, SHARED)(given)
    assert (response.status, response.headers) == (200, [("content-type", "application/json")])
    return orjson.loads(response.body)


def shown(name, caller=None, among=SHOWN, **environ):
    given = exchange(f"/v1/models/{name}", caller=caller, **environ)
    return orjson.loads(model_list.models(among, SHARED, "model")(given).body)


def test_the_list_has_the_shape_the_request_asks_for():
    assert listed(exchange())["object"] == "list"
    assert "has_more" in listed(exchange(HTTP_ANTHROPIC_VERSION="2023-06-01"))
    assert "models" in listed(exchange(HTTP_X_GOOG_API_KEY="k"))
    assert "models" in listed(exchange(query="key=k"))


def test_the_last_dialect_answers_what_none_claims():
    assert model_list.speaking(exchange(), (ANTHROPIC, GEMINI)) is GEMINI


def test_a_caller_sees_only_what_it_may_use():
    found = listed(exchange(caller=Caller("a", ("gpt*", "org/*"))))
    assert [model["id"] for model in found["data"]] == ["gpt-4o", "org/m:x"]
    assert listed(exchange(caller=Caller("a", ())))["data"] == []
    assert len(listed(exchange(caller=Caller("a")))["data"]) == 3


def test_the_query_pages_the_list():
    found = listed(exchange(query="limit=1&after_id=gpt-4o", HTTP_ANTHROPIC_VERSION="x"))
    assert [model["id"] for model in found["data"]] == ["claude"]


def test_a_list_has_the_models_that_can_be_called_in_its_dialect():
    among = shown_models("both", gpt="openai", claude="anthropic")
    assert [one["id"] for one in listed(exchange(), among)["data"]] == ["both", "gpt"]
    found = listed(exchange(HTTP_ANTHROPIC_VERSION="x"), among)
    assert [one["id"] for one in found["data"]] == ["both", "claude"]
    found = listed(exchange(HTTP_X_GOOG_API_KEY="k"), among)
    assert [one["baseModelId"] for one in found["models"]] == ["both"]


def test_a_list_that_was_made_for_one_token_is_not_shown_to_another():
    for caller in (None, Caller("a", ("gpt*",)), Caller("b", ("claude",)), None, Caller("c", ())):
        names = ("gpt-4o", "claude", "org/m:x")
        expected = {name for name in names if caller is None or caller.may_use(name)}
        for _ in range(2):
            assert {one["id"] for one in listed(exchange(caller=caller))["data"]} == expected


def test_a_model_tells_the_methods_of_its_operations():
    assert shown("claude", HTTP_X_GOOG_API_KEY="x")["supportedGenerationMethods"] == [
        "generateContent",
        "embedContent",
    ]


WILD = {"gpt-*": "openai", "claude-*": "anthropic", "claude-best": "anthropic"}


def test_a_model_that_a_wildcard_serves_is_shown_and_not_listed():
    among = shown_models(**WILD)
    assert listed(exchange(), among)["data"] == []
    assert shown("gpt-9", among=among)["id"] == "gpt-9"
    assert shown("claude-9", among=among, HTTP_ANTHROPIC_VERSION="x")["display_name"] == "claude-9"
    caller = Caller("a", ("gpt-9",))
    assert shown("gpt-9", caller, among)["id"] == "gpt-9"
    with pytest.raises(GatewayError, match="does not exist here"):
        shown("gpt-8", caller, among)


def test_a_model_that_cannot_be_called_in_a_dialect_is_not_found_there():
    with pytest.raises(GatewayError) as raised:
        shown("claude-9", among=shown_models(**WILD))
    assert (raised.value.status, raised.value.code) == (404, "model_not_found")
    assert "it has anthropic.messages." in raised.value.message


def test_answers_are_cached_up_to_a_size():
    made = []

    def get(key, size):
        return answers.get(key, lambda: made.append(key) or bytes(size))

    answers = Answers(10)
    for key, size in (("a", 4), ("b", 4), ("a", 4), ("c", 4), ("a", 4), ("b", 4), ("big", 11)):
        assert len(get(key, size)) == size
    assert made == ["a", "b", "c", "b", "big"]
    assert get("big", 11)
    assert made[-2:] == ["big", "big"]


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
