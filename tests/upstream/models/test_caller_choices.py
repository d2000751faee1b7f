"""Members and names with which a request chooses more than its model."""

import json
import os

import yaml

from engine.offline.rehearsal import observation
from engine.offline.rehearsal.rehearse import rehearse
from engine.plan.assembly.make_plan import make_plan
from engine.values.caller import Caller
from tests.support.each import each
from tests.support.paths import ROOT

MODELS = {
    "openai/*": {"to": [{"upstream": "router"}]},
    "meta/*": {"to": [{"upstream": "router"}]},
    "exact:nitro": {"to": [{"upstream": "router"}]},
    "renamed": {"to": [{"upstream": "router", "model": "x/y:nitro"}]},
    "short/*": {"to": [{"upstream": "router", "model": "*"}]},
    "elsewhere": {"to": [{"upstream": "other"}]},
    "claude-*": {"to": [{"upstream": "claude"}]},
    "gemini-*": {"to": [{"upstream": "gemini"}]},
}
UPSTREAMS = {
    "router": {"provider": "openrouter", "credential": {"bearer": "a"}},
    "other": {"url": "https://other.example.com", "dialect": "openai"},
    "claude": {"url": "https://claude.example.com", "dialect": "anthropic"},
    "gemini": {"url": "https://gemini.example.com", "dialect": "gemini"},
}
CACHE = {"HOME": os.environ["HOME"]}
"""Where the documents are that a process has read before."""
NARROW = Caller("narrow", models=("openai/*", "claude-haiku"))
WIDE = Caller("wide")


def plan_of(policies=(), permitted=(), **route):
    upstreams = {name: dict(value) for name, value in UPSTREAMS.items()}
    if permitted:
        upstreams["router"]["caller_choices"] = [*permitted]
    config = {
        "version": 1,
        "specs": {
            name: {"document": f"openapi/{name}.yaml", "dialect": name}
            for name in ("openai", "anthropic", "gemini")
        },
        "upstreams": upstreams,
        "models": MODELS,
        "routes": [
            {
                "operations": ["openai.createChatCompletion", "anthropic.createMessage"],
                "model": "$request.body#/model",
                "policies": [*policies],
                **route,
            },
            {"operations": ["gemini.generateContent"], "model": "$request.path.model", **route},
        ],
    }
    planned = make_plan(ROOT / "gateway.yaml", CACHE, yaml.safe_dump(config))
    assert planned.plan is not None, planned.findings.errors
    return planned.plan


PLAN = plan_of()


def ask(
    members,
    model="openai/a",
    *,
    plan=PLAN,
    caller=WIDE,
    path="",
    kind="application/json",
    start=b"",
    end=b"",
):
    chat = {"model": model, "messages": [{"role": "user", "content": "hi"}], **members}
    if path == "/v1/messages":
        chat["max_tokens"] = 9
    if model.startswith("gemini"):
        path = f"/models/{model}:generateContent"
        chat = {"contents": [{"parts": [{"text": "hi"}]}], **members}
    body = start + json.dumps(chat).encode().removesuffix(b"}") + end + b"}"
    path = path or "/v1/chat/completions"
    path = f"/v1beta{path}" if model.startswith("gemini") else path
    request = observation.request("POST", path, [("content-type", kind)], body)
    rehearsal = rehearse(plan, request, caller)
    error = rehearsal.error
    return (rehearsal.status,) if error is None else (error.status, error.code, error.param)


@each(
    "members",
    [
        {},
        {"models": ["openai/a", "openai/b", "meta/c"]},
        {"models": None},
        {"models": []},
        {"fallbacks": [{"model": "meta/c"}]},
        {"tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]},
    ],
)
def test_models_that_the_caller_could_ask_for_may_be_named(members):
    assert ask(members) == (200,)


@each(
    ("members", "param"),
    [
        ({"models": ["openai/a", "evil/x"]}, "models[1]"),
        ({"models": "evil/x"}, "models"),
        ({"fallbacks": [{"model": "evil/x"}]}, "fallbacks[0].model"),
        (
            {"tools": [{}, {"type": "advisor", "parameters": {"model": "evil/x"}}]},
            "tools[1].parameters.model",
        ),
        (
            {"tools": [{"type": "f", "parameters": {"analysis_models": ["openai/a", "evil/x"]}}]},
            "tools[0].parameters.analysis_models[1]",
        ),
    ],
)
def test_any_other_model_is_refused_with_its_place(members, param):
    plan = plan_of(validate="off")
    assert ask(members, plan=plan) == (403, "model_not_allowed", param)


def test_the_models_of_the_token_bound_every_named_model():
    members = {"models": ["openai/b", "meta/c"]}
    assert ask(members, caller=NARROW) == (403, "model_not_allowed", "models[1]")
    assert ask({"models": ["openai/b"]}, caller=NARROW) == (200,)


def test_allow_models_bounds_every_named_model():
    plan = plan_of([{"allow_models": ["openai/*"]}])
    assert ask({"models": ["openai/b"]}, plan=plan) == (200,)
    assert ask({"models": ["meta/c"]}, plan=plan)[:2] == (403, "model_not_allowed")


@each("name", ["renamed", "short/evil", "elsewhere"])
def test_a_named_model_must_be_the_same_at_the_upstream(name):
    assert ask({"models": [name]}) == (403, "choice_not_allowed", "models[0]")


@each(
    ("members", "param"),
    [
        ({"provider": {"order": ["x"]}}, "provider"),
        ({"route": "fallback"}, "route"),
        ({"preset": "x"}, "preset"),
        ({"plugins": [{"id": "web"}]}, "plugins"),
        ({"models": [7]}, "models[0]"),
        ({"models": [[[[[[[[[[["openai/a"]]]]]]]]]]]}, "models" + "[0]" * 10),
    ],
)
def test_what_cannot_be_checked_is_refused(members, param):
    assert ask(members) == (403, "choice_not_allowed", param)


@each(
    "end",
    [
        b', "models": []',
        b', "fallbacks": [{"model": "evil/x", "model": "openai/b"}]',
        b', "fallbacks": [{"m\\u006fdel": "evil/x", "model": "openai/b"}]',
        b', "tools": [{"parameters": {"model": "evil/x"}, "parameters": {}}]',
        b', "tools": [{"type": "x", "model": "evil/x", "model": null}]',
    ],
)
def test_a_name_that_is_given_twice_is_refused(end):
    twice = ask({"models": ["openai/b"]}, end=end)
    assert twice[:2] == (400, "invalid_value")


@each("name", [b"model", b"m\\u006fdel", b"\\u006D\\u006F\\u0064el"])
def test_a_choice_in_a_tool_is_found_however_its_name_is_written(name):
    end = b', "tools": [{"type": "x"}, {"type": "x", "%b": "evil/x"}]' % name
    assert ask({}, end=end) == (403, "model_not_allowed", "tools[1].model")


@each(
    ("model", "status"),
    [
        ("openai/a:nitro", 403),
        ("openai/a@preset/x", 403),
        ("short/openrouter/auto", 403),
        ("short/a:floor", 403),
        ("openai/a:free", 200),
        ("exact:nitro", 200),
        ("renamed", 200),
    ],
)
def test_a_name_that_chooses_is_refused_where_it_comes_through_a_wildcard(model, status):
    assert ask({}, model)[0] == status
    assert ask({"models": [model]} if status == 403 else {}, "openai/b")[0] == status


def test_the_config_permits_choices():
    plan = plan_of(permitted=["provider", "models", "*:nitro"])
    assert ask({"provider": {"order": ["x"]}, "models": ["evil/x"]}, plan=plan) == (200,)
    assert ask({}, "openai/a:nitro", plan=plan) == (200,)
    assert ask({"preset": "x"}, plan=plan)[:2] == (403, "choice_not_allowed")
    assert ask({"preset": "x"}, "openai/a:online", plan=plan_of(permitted=["*"])) == (200,)


def test_the_choices_of_other_vendors_are_not_those_of_an_upstream():
    assert ask({"models": ["evil/x"], "preset": "x"}, "elsewhere") == (200,)


def test_the_vendor_of_the_dialect_is_known_without_a_provider():
    path = "/v1/messages"
    named = {"fallbacks": [{"model": "claude-opus"}]}
    assert ask(named, "claude-haiku", path=path) == (200,)
    refused = ask(named, "claude-haiku", path=path, caller=NARROW)
    assert refused == (403, "model_not_allowed", "fallbacks[0].model")
    assert ask({"fallbacks": "default"}, "claude-haiku", path=path)[0] == 403


@each("name", ["routingConfig", "routing_config"])
def test_a_choice_is_found_in_both_spellings_although_the_path_names_the_model(name):
    members = {"generation_config": {name: {"manualMode": {"modelName": "gemini-x"}}}}
    refused = (403, "choice_not_allowed", "generationConfig.routingConfig")
    assert ask(members, "gemini-a") == refused
    plan = plan_of(validate="off")
    assert ask(members, "gemini-a", plan=plan) == refused
    for start in (b"", b" " * 100, b"\xef\xbb\xbf", b"\r\n\0"):
        answer = ask(members, "gemini-a", plan=plan, kind="text/plain", start=start)
        assert answer[1] == "unreadable_body"
