"""docs/how-to/jwt.md with a real OpenID Connect provider: its keys by discovery, the tokens of a
program and of a person who signs in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner

from engine.cli.token.inspect import command
from tests.support.oidc_provider import (
    IS_INSTALLED,
    RESOURCE,
    oidc_provider,
    program_token,
    sign_in,
)
from tests.support.recording import Recorder, answer, ask, assert_error, recorder
from tests.support.running import Running, gateway
from tests.support.small import COMPLETION, chat, project

pytestmark = pytest.mark.skipif(not IS_INSTALLED, reason="oidc-provider of npm is not installed")

CALLERS = """
callers:
  jwt:
    - issuer: {issuer}
      audience: {audience}
      prefix: "sso:"
      require: {{groups: models-users}}
      claims: {{team: "groups[1]"}}
      models: [one]
"""


@dataclass
class Deployment:
    issuer: str
    running: Running
    upstream: Recorder
    config: Path


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    folder = tmp_path_factory.mktemp("oidc")
    with oidc_provider() as issuer, recorder() as upstream:
        upstream.speak = answer(json.dumps(COMPLETION).encode())
        callers = CALLERS.format(issuer=issuer, audience=RESOURCE)
        text = project(folder, upstream.url, {"chat": "[]"}, workers=1, more=callers)
        with gateway(folder, text) as running:
            yield Deployment(issuer, running, upstream, folder / "gateway.yaml")


def test_a_program_calls_with_the_token_of_its_client(deployment: Deployment) -> None:
    secret = program_token(deployment.issuer)
    assert ask(deployment.running.port, chat(token=secret)).status == 200
    assert secret not in str(deployment.upstream.last.headers)


def test_a_person_who_has_signed_in_is_a_caller(deployment: Deployment) -> None:
    tokens = sign_in(deployment.issuer, "ada")
    port = deployment.running.port
    assert ask(port, chat(token=tokens["access_token"])).status == 200
    # The ID token is for the program in which she signed in, not for the gateway.
    response = ask(port, chat(token=tokens["id_token"]))
    assert_error(response, 401, "invalid_api_key")
    assert "another audience" in response.json()["error"]["message"]


def test_a_person_without_the_group_is_refused_with_the_reason(deployment: Deployment) -> None:
    secret = sign_in(deployment.issuer, "eve")["access_token"]
    response = ask(deployment.running.port, chat(token=secret))
    assert_error(response, 401, "invalid_api_key")
    assert "lacks a claim" in response.json()["error"]["message"]


def test_inspect_shows_the_caller_that_the_gateway_sees(deployment: Deployment) -> None:
    options = ["-", "--config", str(deployment.config), "--format", "json"]
    result = CliRunner().invoke(command, options, input=program_token(deployment.issuer))
    assert result.exit_code == 0, result.output
    shown = json.loads(result.stdout)
    assert shown["caller"]["name"] == "sso:nightly"
    assert shown["caller"]["team"] == "search"
    assert urlsplit(shown["claims"]["iss"]).hostname == "127.0.0.1"
    assert shown["refusal"] == ""
