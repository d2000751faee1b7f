"""`modelway routes`: a line for each path, and the formats of each model."""

import json

import pytest

from benchmarks.growth import configs as growth
from engine.cli.routes.tables import model_table
from engine.plan.assembly.make_plan import make_plan
from engine.source import files
from tests.support.commands import modelway
from tests.support.translating import translating


def test_routes_lists_paths_with_targets_and_policies(folder):
    result = modelway("routes")
    assert result.exit_code == 0
    heading, *rows = [line.rstrip() for line in result.output.splitlines()]
    assert " ".join(heading.split()) == "METHOD PATH OPERATION MODEL FROM GOES TO GUARDS"
    assert [row.split()[:3] for row in rows] == [
        ["GET", "/v1/items", "shop.list"],
        ["GET", "/v1/more", "shop.more"],
    ]
    assert "main" in rows[0]
    assert "token" in rows[0]


def test_routes_of_the_shipped_config_has_a_line_for_each_path():
    result = modelway("routes", "-c", str(files.CONFIG))
    planned = make_plan(files.CONFIG, {})
    paths = [template for route in planned.plan.routes for template, _ in route.templates]
    for path in paths:
        assert path in result.output
    assert "gpt-image-1" in result.output
    assert "websocket" in result.output


@pytest.fixture
def models(tmp_path):
    """A function that returns the line of a model in the text of `routes`."""
    translating(tmp_path)
    lines = modelway("routes", "-c", str(tmp_path / "gateway.yaml")).output.splitlines()
    return lambda name: next(line.split() for line in lines if line.startswith(f"{name} "))


def test_the_formats_of_each_model_are_marked_if_translated(models):
    assert models("claude-model")[1:] == [
        "chat_completions*,",
        "responses*,",
        "messages,",
        "generate_content*",
        "-",
    ]
    assert models("native-model")[1:] == ["messages", "-"]


def test_a_fallback_of_another_format_marks_the_formats_of_the_model(models):
    assert models("spare-model")[1:3] == ["chat_completions*,", "responses*,"]


@pytest.fixture
def document(tmp_path):
    translating(tmp_path)
    result = modelway("routes", "-c", str(tmp_path / "gateway.yaml"), "--format", "json")
    return json.loads(result.output)


def test_json_has_the_targets_of_each_format(document):
    spare = next(model for model in document["models"] if model["model"] == "spare-model")
    formats = {entry["format"]: entry["targets"] for entry in spare["formats"]}
    assert [(t["upstream"], t["entry"], t["into"]) for t in formats["messages"]] == [
        ("openai", "spare-model", "chat_completions"),
        ("anthropic", "claude-model", ""),
    ]
    assert [target["into"] for target in formats["chat_completions"]] == ["", "messages"]


def test_json_has_the_upstreams_of_each_route(document):
    route = next(r for r in document["routes"] if r["operation"] == "anthropic.createMessage")
    assert (route["method"], route["path"], route["answer"]) == ("POST", "/v1/messages", "")
    assert route["targets"] == [
        {"upstream": "anthropic", "translated": False},
        {"upstream": "gemini", "translated": True},
        {"upstream": "openai", "translated": True},
    ]


@pytest.fixture
def listed(tmp_path):
    """What `routes` lists of Groq's models for the operations of a route."""

    def run(operations, *words):
        config = tmp_path / "gateway.yaml"
        config.write_text(
            "version: 1\n"
            f"specs: {{openai: {{document: {files.DOCUMENTS / 'openai.yaml'}, dialect: openai}}}}\n"
            "upstreams: {groq: {provider: groq, credential: {bearer: a}}}\n"
            'models: {"*": {to: [{upstream: groq}]}}\n'
            f"routes: [{{operations: {operations}, model: $request.body#/model}}]\n",
            "utf-8",
        )
        return modelway("routes", "-c", str(config), *words).output

    return run


def test_models_of_a_provider_behind_a_wildcard_are_listed(listed):
    output = " ".join(listed("[openai.createChatCompletion]").split())
    assert "LISTED MODELS" in output
    assert "groq/compound, groq/compound-mini, " in output
    assert "more" not in output  # a program gets all of them


def test_a_model_without_a_routed_operation_is_not_listed(listed):
    (model,) = json.loads(listed("[openai.createTranscription]", "--format", "json"))["models"]
    assert model["listed"] == ["whisper-large-v3", "whisper-large-v3-turbo"]


def test_a_table_on_a_terminal_names_the_first_models_of_a_provider():
    names = [f"model-{number}" for number in range(11)]
    models = [
        {"model": "*", "choose": "weighted", "rules": [], "formats": [], "operations": []}
        | {"listed": names}
    ]
    ((*_, listed),) = model_table(models, brief=True).rows
    assert listed == "model-0, model-1, model-2, model-3, model-4 and 6 more"


def test_a_table_on_a_terminal_names_the_first_of_many_upstreams(monkeypatch, tmp_path):
    size = growth.Size(models=30, routes=10, upstreams=30, tokens=0)
    config = growth.write(tmp_path, size, upstream=1, port=1, telemetry=2)
    monkeypatch.setattr("engine.cli.routes.is_terminal", lambda stream: True)
    text = modelway("routes", "-c", str(config), env={"KEY": "upstream-key"}).output
    assert "and 10 more" in " ".join(text.split())


def test_the_targets_of_many_upstreams_are_complete_for_programs(tmp_path):
    size = growth.Size(models=30, routes=10, upstreams=30, tokens=0)
    config = growth.write(tmp_path, size, upstream=1, port=1, telemetry=2)
    text = modelway("routes", "-c", str(config), env={"KEY": "upstream-key"}).output
    (line,) = [line for line in text.splitlines() if " team0.chat0 " in line]
    assert all(f"up{number}" in line for number in range(30))
    listed = json.loads(
        modelway("routes", "-c", str(config), "--format", "json", env={"KEY": "k"}).output
    )["routes"]
    by_operation = {route["operation"]: route["targets"] for route in listed}
    assert len(by_operation["team0.chat0"]) == 30
    assert [target["upstream"] for target in by_operation["team9.chat9"]] == ["up9"]


def test_operations_of_one_path_have_a_line_each_with_the_query_that_they_need(tmp_path):
    keys = ("/a/{id}", "/a/{name}", "/b#one", "/b", "/b?beta=true")
    operations = [
        f"  {key}: {{get: {{operationId: op{number}, responses: {{}}}}}}\n"
        for number, key in enumerate(keys)
    ]
    (tmp_path / "x.yaml").write_text(
        f'openapi: 3.1.0\ninfo: {{title: T, version: "1"}}\npaths:\n{"".join(operations)}'
    )
    (tmp_path / "gateway.yaml").write_text(
        "version: 1\nspecs: {x: {document: x.yaml}}\nupstreams: {u: {url: http://127.0.0.1:9}}\n"
        "routes: [{operations: x.*, to: [{upstream: u}]}]\n"
    )
    result = modelway("routes", "-c", str(tmp_path / "gateway.yaml"))
    rows = [line.split()[1:3] for line in result.output.splitlines()[1:]]
    paths = ("/a/{id}", "/a/{name}", "/b", "/b", "/b?beta=true")
    assert rows == [[path, f"x.op{number}"] for number, path in enumerate(paths)]
