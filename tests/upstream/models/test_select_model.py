"""Which model is requested, whether the caller may use it, and its targets."""

import json
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from engine import dialects
from engine.config.model_operation import ModelOperation
from engine.config.models import Choice, MirrorConfig, Model, RuleConfig, TargetConfig
from engine.config.operations_by_model import ModelOperations
from engine.exchange.exchange import MISSING, Response
from engine.exchange.request_body import Body
from engine.spec import expression
from engine.spec.model_locations import ModelLocations
from engine.upstream import choose
from engine.upstream.models.build_catalog import build_catalog
from engine.upstream.models.model_catalog import ModelsByOperation
from engine.upstream.models.regional_targets import RegionalModels
from engine.upstream.models.select_model import SelectModel
from engine.values.caller import Caller
from engine.values.errors import GatewayError
from tests.support.exchanges import new_exchange, set_content
from tests.support.upstreams import SERVICES, Client, upstream

CHAT, EMBED = ModelOperation("openai.chat", "openai"), ModelOperation("openai.embed", "openai")
MESSAGES = ModelOperation("anthropic.messages", "anthropic")
GENERATE = ModelOperation("gemini.generate", "gemini")
DIALECTS = {"c": "anthropic", "d": "", "e": "anthropic"}
UPSTREAMS = {name: upstream(Client(), name=name, dialect=DIALECTS.get(name, "openai"))
             for name in ("a", "b", "c", "d", "e", "f", "g", "wild")}  # fmt: skip


def entry(name, *upstreams, fallback=(), operations=()):
    to = tuple(TargetConfig(upstream, "", 1.0) for upstream in upstreams)
    return Model(name, to, fallback, name, "me", 0, operations)


MODELS = {
    model.name: model
    for model in (
        entry("gpt-4o", "a", fallback=("other", "embedding")),
        entry("other", "b"),
        entry("gpt-*", "wild"),
        entry("claude", "c"),
        entry("any", "d"),
        entry("both", "e", "f"),
        entry("org/m:x", "g"),
        entry("embedding", "g", operations=("openai.emb*",)),
        entry("narrow", "a", fallback=("other",), operations=("openai.embed",)),
        replace(
            entry("ruled", "a"),
            mirror=MirrorConfig((TargetConfig("g", "", 1.0),), 5.0, 1, (), ()),
            when=(
                RuleConfig(
                    {"body": {"user": "x"}}, (TargetConfig("b", "", 1.0),), (), Choice(), ()
                ),
                RuleConfig(
                    {"body": {"user": "y"}}, (TargetConfig("c", "", 1.0),), (), Choice(), ()
                ),
            ),
        ),
    )
}
SPOKEN = {
    name: SimpleNamespace(dialect=each.dialect, missing_paths=())
    for name, each in UPSTREAMS.items()
}
OPERATIONS = ModelOperations(MODELS, SPOKEN, (CHAT, EMBED, MESSAGES, GENERATE))
CATALOG = build_catalog(MODELS, UPSTREAMS, lambda choice: choose.build(SERVICES, choice))


def call(name=MISSING, default="", caller=None, operation=CHAT, text=None, also=()):
    value = {} if name is MISSING else {"model": name}
    body = text if text is not None else json.dumps(value).encode()
    exchange = new_exchange("POST", media_type="application/json", operation=operation.id)
    exchange.body, exchange.caller = Body(body), caller
    set_content(exchange, value=json.loads(body))
    if name is not MISSING:
        assert exchange.content.value["model"] == name
    stage = SelectModel(
        ModelLocations(
            expression.parse("$request.body#/model"),
            [expression.parse(place) for place in also],
            dialects.get(operation.dialect).model_prefix,
        ),
        default,
        operation,
        ModelsByOperation(OPERATIONS),
        CATALOG,
    )
    stage(exchange, lambda exchange: Response(200, []))
    return exchange


def refusal(*args, **more):
    with pytest.raises(GatewayError) as excinfo:
        call(*args, **more)
    assert excinfo.value.param == "model"
    return excinfo.value


@pytest.mark.parametrize(("operation", "accepted"), [(CHAT, False), (GENERATE, True)])
def test_a_copy_of_the_name_may_have_the_prefix_of_its_dialect(operation, accepted):
    text = b'{"model": "any", "inner": {"model": "models/any"}}'
    places = ["$request.body#/inner/model"]
    if accepted:
        assert call("any", operation=operation, text=text, also=places).model.copies == [
            (36, 48, "models/")
        ]
        return
    with pytest.raises(GatewayError, match="must name the same model"):
        call("any", operation=operation, text=text, also=places)


def upstreams(exchange):
    return [target.upstream.name for target in exchange.model.targets]


@pytest.mark.parametrize(
    ("model", "names"),
    [
        ("gpt-4o", ["a", "b"]),
        ("gpt-5", ["wild"]),
        ("any", ["d"]),
        ("org/m:x", ["g"]),
        ("both", ["f"]),
        ("other", ["b"]),
    ],
)
def test_a_model_has_the_targets_that_serve_the_operation(model, names):
    exchange = call(model)
    assert (exchange.model.name, upstreams(exchange)) == (model, names)


def test_the_span_of_the_model_in_the_body():
    exchange = call("gpt-4o", text=b'{"x": 1, "model" : "gpt-4o"}')
    assert exchange.model.span == (19, 27)


@pytest.mark.parametrize("model", [MISSING, None, ""])
def test_without_a_model_the_default_is_used_or_the_request_refused(model):
    assert call(model, default="gpt-4o").model.name == "gpt-4o"
    error = refusal(model)
    assert (error.status, error.code) == (400, "missing_required_parameter")


@pytest.mark.parametrize("model", [7, True, ["gpt-4o"], {"a": 1}, 1.5])
def test_a_model_that_is_not_a_string_is_refused(model):
    error = refusal(model, default="gpt-4o")
    assert (error.status, error.code) == (400, "invalid_type")


def test_an_unknown_model_is_404_with_a_suggestion():
    error = refusal("claud")
    assert (error.status, error.code) == (404, "model_not_found")
    assert "Did you mean 'claude'?" in error.message


@pytest.mark.parametrize("model", ["gpt-4o", "nothing-like-it"])
def test_a_model_the_caller_may_not_use_is_403_whether_it_exists_or_not(model):
    error = refusal(model, caller=Caller("a", ("claude",)))
    assert (error.status, error.code) == (403, "model_not_allowed")


def test_no_model_is_suggested_that_the_caller_may_not_use():
    error = refusal("claud", caller=Caller("a", ("claud", "gpt*")))
    assert (error.status, "claude" in error.message) == (404, False)


def test_the_models_of_a_caller_limit_the_default_too():
    assert refusal(default="gpt-4o", caller=Caller("a", ())).status == 403


def test_the_models_of_a_caller_are_matched_with_the_requested_name():
    assert call("gpt-5", caller=Caller("a", ("gpt-5",))).model.name == "gpt-5"
    assert refusal("gpt-6", caller=Caller("a", ("gpt-5",))).status == 403


def test_a_fallback_serves_only_the_operations_it_has():
    assert upstreams(call("gpt-4o", operation=EMBED)) == ["a", "b", "g"]
    assert upstreams(call("gpt-4o", operation=CHAT)) == ["a", "b"]


@pytest.mark.parametrize("operation", [CHAT, MESSAGES])
@pytest.mark.parametrize("times", [1, 2])
def test_another_operation_of_a_model_is_404_and_names_its_operations(operation, times):
    for _ in range(times):
        error = refusal("narrow", operation=operation)
    assert (error.status, error.code) == (404, "model_not_found")
    assert error.message == (
        f"The model 'narrow' does not have {operation.id}; it has openai.embed."
    )


def test_a_model_of_another_dialect_is_404_and_names_its_operations():
    error = refusal("claude")
    assert error.status == 404
    assert "anthropic.messages" in error.message


def test_a_long_name_is_cut_in_the_message():
    assert len(refusal("x" * 100_000).message) < 500
    assert len(refusal("x" * 100_000, caller=Caller("a", ())).message) < 500


@pytest.mark.parametrize(
    ("location", "sent"),
    [
        ("query.model", {"query": "model=gpt-4o&Model=other"}),
        ("header.x-model", {"environ": {"HTTP_X_MODEL": "gpt-4o,other"}}),
    ],
)
def test_a_second_name_in_the_head_is_refused_although_a_model_was_found_early(location, sent):
    locations = ModelLocations(expression.parse(f"$request.{location}"))
    stage = SelectModel(locations, "", CHAT, ModelsByOperation(OPERATIONS), CATALOG)
    exchange = new_exchange("POST", operation=CHAT.id, **sent)
    with pytest.raises(GatewayError, match="given twice"):
        stage.check_head(exchange, lambda exchange: stage(exchange, lambda _: Response(200, [])))


def test_a_repeated_key_is_refused_even_with_equal_values():
    error = refusal("gpt-4o", text=b'{"model":"gpt-4o","model":"gpt-4o"}')
    assert (error.status, error.code) == (400, "invalid_value")


@pytest.mark.parametrize("text", [b'[{"prompt": "x"}]', b"null", b'"text"', b"5"])
def test_a_default_is_written_only_into_an_object(text):
    with pytest.raises(GatewayError) as excinfo:
        call(default="gpt-4o", text=text)
    assert (excinfo.value.status, excinfo.value.code) == (400, "invalid_type")


@pytest.mark.parametrize(("user", "names"), [("x", ["b"]), ("z", ["a"])])
def test_a_rule_of_the_model_chooses_its_targets(user, names):
    body = json.dumps({"model": "ruled", "user": user}).encode()
    assert upstreams(call("ruled", text=body)) == names


def test_a_rule_without_a_target_that_has_the_operation_refuses_the_request():
    body = b'{"model": "ruled", "user": "y"}'
    error = refusal("ruled", text=body)
    assert (error.status, error.code) == (404, "model_not_found")
    assert error.message == (
        "The model 'ruled' does not have openai.chat for requests like this one."
    )


def test_a_rule_decides_before_the_region_does():
    """A model elsewhere whose rule sends these callers to their region."""
    eu = upstream(Client(), name="eu", dialect="openai")
    eu.regions = ("eu",)
    rule = RuleConfig({"body": {"user": "y"}}, (TargetConfig("eu", "", 1.0),), (), Choice(), ())
    model = Model("ruled", (TargetConfig("a", "", 1.0),), (), "ruled", "me", 0, when=(rule,))
    upstreams = {**UPSTREAMS, "eu": eu}
    spoken = {**SPOKEN, "eu": SimpleNamespace(dialect="openai", missing_paths=())}
    operations = ModelOperations({"ruled": model}, spoken, (CHAT,))
    catalog = build_catalog({"ruled": model}, upstreams, lambda c: choose.build(SERVICES, c))
    stage = SelectModel(
        ModelLocations(expression.parse("$request.body#/model")),
        "",
        CHAT,
        ModelsByOperation(operations),
        catalog,
        RegionalModels((("eu",),), may_lack=False),
    )
    exchange = new_exchange("POST", media_type="application/json", operation=CHAT.id)
    exchange.body = Body(b"{}")
    set_content(exchange, value={"model": "ruled", "user": "y"})
    stage(exchange, lambda exchange: Response(200, []))
    assert [target.upstream.name for target in exchange.model.targets] == ["eu"]
    set_content(exchange, value={"model": "ruled"})
    with pytest.raises(GatewayError) as raised:
        stage(exchange, lambda exchange: Response(200, []))
    assert raised.value.code == "region_not_allowed"


@pytest.mark.parametrize(("user", "copied"), [("x", False), ("z", True)])
def test_a_request_that_meets_a_rule_is_not_copied(user, copied):
    body = json.dumps({"model": "ruled", "user": user}).encode()
    assert (call("ruled", text=body).model.mirror is not None) is copied
