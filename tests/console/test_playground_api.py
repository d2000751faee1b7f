"""What the playground learns about a token."""

import falcon.testing

from engine.app.build import build
from tests.console.conftest import planned
from tests.support.running import ALL, EXPIRED, LIMITED

PATH = "/console/models.json"


def ask(client, token, **more):
    return client.simulate_get(PATH, headers={"authorization": f"Bearer {token}"}, **more)


def test_a_token_gets_the_models_that_it_may_use(client):
    everything, limited = ask(client, ALL), ask(client, LIMITED)
    assert everything.status_code == limited.status_code == 200
    assert {"gpt-4o", "claude-sonnet"} <= {model["id"] for model in everything.json["models"]}
    assert all(model["id"].startswith("gpt-4o") for model in limited.json["models"])
    assert limited.json["token"]["name"] == "limited"
    assert not any("*" in model["id"] for model in everything.json["models"])


def test_the_response_is_not_cached(client):
    assert ask(client, ALL).headers["cache-control"] == "no-store"


def test_an_invalid_token_gets_401(client):
    for token in ("", "mw-wrong", EXPIRED):
        answer = ask(client, token)
        assert answer.status_code == 401
        assert answer.json["error"]["code"] == "invalid_api_key"
    in_query = client.simulate_get(PATH, params={"key": ALL, "token": ALL})
    assert in_query.status_code == 401


def test_a_token_for_some_operations_gets_their_formats(text):
    config = text.replace('models: ["gpt-4o*"]', "operations: [anthropic.*]")
    client = falcon.testing.TestClient(build(planned(config)))
    body = ask(client, LIMITED).json
    assert [entry["name"] for entry in body["formats"]] == ["messages"]
    assert {tuple(model["formats"]) for model in body["models"]} == {(), ("messages",)}
    assert {tuple(model["translated"]) for model in body["models"]} == {(), ("messages",)}


def test_formats_without_a_translation_come_first(client):
    models = {model["id"]: model for model in ask(client, ALL).json["models"]}
    assert models["claude-sonnet"]["formats"] == ["messages", "chat", "responses", "generate"]
    assert models["claude-sonnet"]["translated"] == ["chat", "responses", "generate"]
    assert models["gpt-4o"]["formats"] == ["chat", "responses", "messages", "generate"]


def test_programs_contain_the_base_url(client):
    formats = ask(client, ALL, host="models.example.com").json["formats"]
    for entry in formats:
        for code in entry["code"].values():
            assert "models.example.com" in code["start"]
            assert "@" not in code["start"].replace("@anthropic-ai", "").replace("@google", "")


def test_a_model_has_the_media_of_its_input_if_every_target_takes_them(text):
    upstream = "  main: {provider: openai, credential: {bearer: a}}\n"
    config = text.replace("upstreams:", "upstreams:\n" + upstream + "  # ", 1)
    config = config.replace(
        "  gpt-4o: &chat\n    to: [{upstream: openai}]",
        "  gpt-4o: &chat\n    to: [{upstream: main}]",
    )
    client = falcon.testing.TestClient(build(planned(config)))
    models = {model["id"]: model for model in ask(client, ALL).json["models"]}
    assert models["gpt-4o"]["input"] == ["text", "image", "pdf"]
    assert "input" not in models["claude-sonnet"]
