"""What the gateway answers by itself: its list of models."""

from types import SimpleNamespace

import orjson
import pytest

from engine import dialects
from engine.config.listed_models import ListedModel, listed_models
from engine.config.model_operations import ModelOperation, ModelOperations
from engine.config.models import Model, TargetConfig
from engine.edge.endpoint import dialect_of
from engine.edge.model_list import VisibleModels, models
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


def visible_models(*names, **narrowed):
    """Models at an upstream that speaks every dialect; `name=dialect` speaks that one."""
    upstreams = {name: upstream(Client(), name=name, dialect=name) for name in dialects.names()}
    upstreams["any"] = upstream(Client(), name="any", dialect="")
    entries = {}
    for name in (*names, *narrowed):
        to = (TargetConfig(narrowed.get(name, "any"), "", 1.0),)
        entries[name] = Model(name, to, (), name, "me", 5)
    configured = {
        name: SimpleNamespace(provider="", dialect=each.dialect, missing_paths=())
        for name, each in upstreams.items()
    }
    config = SimpleNamespace(models=entries, upstreams=configured)
    operations = ModelOperations(entries, configured, OPERATIONS)
    return VisibleModels(config, operations, listed_models(config))


VISIBLE = visible_models("gpt-4o", "claude", "org/m:x")


def exchange(path="/v1/models", query="", caller=None, **environ):
    request = new_exchange("GET", path, query, environ)
    request.variables = {"model": (len("/v1/models/"), len(path))}
    request.caller = caller
    request.dialect = dialect_of(request, SHARED)
    return request


def listed(request, among=VISIBLE):
    response = models(among, SHARED)(request)
    assert (response.status, response.headers) == (200, [("content-type", "application/json")])
    return orjson.loads(response.body)


def model(name, caller=None, among=VISIBLE, **environ):
    request = exchange(f"/v1/models/{name}", caller=caller, **environ)
    return orjson.loads(models(among, SHARED, "model")(request).body)


def test_the_list_has_the_shape_the_request_asks_for():
    assert listed(exchange())["object"] == "list"
    assert "has_more" in listed(exchange(HTTP_ANTHROPIC_VERSION="2023-06-01"))
    assert "models" in listed(exchange(HTTP_X_GOOG_API_KEY="k"))
    assert "models" in listed(exchange(query="key=k"))


def test_the_last_dialect_answers_what_none_claims():
    assert dialect_of(exchange(), (ANTHROPIC, GEMINI)) is GEMINI


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


def test_the_operations_of_equal_models_are_looked_through_once(monkeypatch):
    looked_through = []
    operations = ListedModel.operations

    def count(self, every):
        looked_through.append(self.name)
        return operations(self, every)

    monkeypatch.setattr(ListedModel, "operations", count)
    among = visible_models("one", "two", "three", claude="anthropic")
    assert len(listed(exchange(), among)["data"]) == 3
    assert looked_through == ["one", "claude"]
