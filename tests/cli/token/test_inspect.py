import json

import pytest
from click.testing import CliRunner

from engine.cli import main
from tests.support.signed_tokens import claims, ec_key, key_set, token
from tests.support.small import project

CONFIG = """
version: 1
callers:
  jwt:
    - issuer: https://login.example.com/
      audience: modelway
      jwks_file: keys.json
      claims: {models: models}
      rate: 60/1m
      concurrency: 2
specs: {small: {document: small.json}}
upstreams: {main: {url: "https://api.example.com"}}
models: {small: {to: [{upstream: main}]}}
routes: [{operation: small.chat, model: $request.body#/model}]
"""


@pytest.fixture
def inspect(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gateway.yaml").write_text(CONFIG)
    project(tmp_path, "http://127.0.0.1:9", {"chat": "[]"})  # its document
    (tmp_path / "keys.json").write_text(json.dumps({"keys": key_set()}))

    def run(secret, *options):
        return CliRunner().invoke(main, ["token", "inspect", "-", *options], input=secret + "\n")

    return run


def test_a_valid_token_shows_its_caller(inspect):
    ran = inspect(token(claims(models=["small"])), "--json")
    assert ran.exit_code == 0, ran.output
    result = json.loads(ran.stdout)
    assert result["claims"]["sub"] == "ada"
    caller = result["caller"]
    assert (caller["name"], caller["models"]) == ("login.example.com:ada", ["small"])
    assert caller["limits"] == ["60 requests / 1m", "2 requests at one time"]


def test_a_refused_token_shows_its_claims_and_why(inspect):
    secret = token(claims(sub="\x1b[2Jada"), key=ec_key(1))
    ran = inspect(secret)
    assert ran.exit_code == 1
    assert "refused: The signature of the token is wrong." in ran.stdout
    assert "\x1b" not in ran.stdout
    assert secret not in ran.stdout


def test_what_is_no_token_is_refused(inspect):
    ran = inspect("mw-secret")
    assert ran.exit_code == 1
    assert "refused: The token is not a valid JSON Web Token." in ran.stdout
