"""What the playground is told of a token."""

from tests.support.running import ALL, EXPIRED, LIMITED

PATH = "/console/models.json"


def ask(client, token, **more):
    return client.simulate_get(PATH, headers={"authorization": f"Bearer {token}"}, **more)


def test_a_token_is_told_its_own_models(client):
    everything, limited = ask(client, ALL), ask(client, LIMITED)
    assert everything.status_code == limited.status_code == 200
    assert {"gpt-4o", "claude-sonnet"} <= {one["id"] for one in everything.json["models"]}
    assert all(one["id"].startswith("gpt-4o") for one in limited.json["models"])
    assert limited.json["token"]["name"] == "limited"
    assert not any("*" in one["id"] for one in everything.json["models"])


def test_it_is_kept_by_nobody(client):
    assert ask(client, ALL).headers["cache-control"] == "no-store"


def test_without_a_token_that_works_it_is_401(client):
    for token in ("", "mw-wrong", EXPIRED):
        answer = ask(client, token)
        assert answer.status_code == 401
        assert answer.json["error"]["code"] == "invalid_api_key"
    in_query = client.simulate_get(PATH, params={"key": ALL, "token": ALL})
    assert in_query.status_code == 401


def test_a_token_for_some_operations_is_offered_those_formats(text):
    import falcon.testing

    from engine.app.build import build
    from tests.console.conftest import planned

    said = text.replace('models: ["gpt-4o*"]', "operations: [anthropic.*]")
    client = falcon.testing.TestClient(build(planned(said)))
    found = ask(client, LIMITED).json
    assert [one["name"] for one in found["formats"]] == ["messages"]
    assert {tuple(one["formats"]) for one in found["models"]} == {(), ("messages",)}


def test_a_program_has_its_addresses(client):
    formats = ask(client, ALL, host="models.example.com").json["formats"]
    for one in formats:
        for code in one["code"].values():
            assert "models.example.com" in code["start"]
            assert "@" not in code["start"].replace("@anthropic-ai", "").replace("@google", "")
