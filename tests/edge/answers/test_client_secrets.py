"""`answer: client_secrets`: a secret for sessions that the caller's token may have."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from engine import dialects
from engine.edge.answers import client_secrets
from engine.edge.answers.own_answer import AnswerSources, SessionRoute
from engine.exchange.client_secret_keys import ClientSecretKeys
from engine.exchange.exchange import MISSING, Response
from engine.values.caller import Caller, digest
from engine.values.errors import GatewayError
from tests.support.each import each
from tests.support.exchanges import new_exchange

NOW = 1_700_000_000.9
TOKEN = digest("mw-a")
CONNECT = "openai.connectRealtime"
CALLER = Caller("a")
ROUTE = SessionRoute(CONNECT, "gpt-realtime")


class Models:
    """Models whose operations are known."""

    def operations_of(self, name: str) -> Any:
        operations = {"gpt-realtime": CONNECT, "live": CONNECT, "gpt-4o": "openai.chat"}
        name = operations.get(name, "")
        return [type("Operation", (), {"id": name})] if name else None


def issue(
    body: Any = MISSING,
    caller: Caller | None = CALLER,
    keys: ClientSecretKeys | None = None,
    token: str = TOKEN,
    routes: tuple[SessionRoute, ...] = (ROUTE,),
) -> Response:
    sources = AnswerSources(
        Models(),  # type: ignore[arg-type]
        [dialects.get("openai")],
        client_secrets=keys,
        clock=lambda: NOW,
        session_routes=routes,
    )
    exchange = new_exchange(value=body, caller=caller, token=token)
    return client_secrets.handler(sources)(exchange)


def test_a_secret_has_the_token_the_model_and_the_settings() -> None:
    keys = ClientSecretKeys(["k" * 32])
    session = {"type": "realtime", "model": "live", "instructions": "Be kind"}
    response = issue({"session": session, "expires_after": {"seconds": 60}}, keys=keys)
    assert (response.status, dict(response.headers)["cache-control"]) == (200, "no-store")
    assert isinstance(response.body, bytes)
    answer = orjson.loads(response.body)
    assert answer["expires_at"] == 1_700_000_060
    secret = keys.open(answer["value"])
    assert secret is not None
    assert secret[:4] == (TOKEN, 1_700_000_060.0, "live", session)
    assert (answer["session"]["model"], answer["session"]["instructions"]) == ("live", "Be kind")
    assert keys.issued == 1


@each("body", [MISSING, {}])
def test_defaults_are_ten_minutes_and_the_model_of_the_route(body: Any) -> None:
    response = issue(body, keys=ClientSecretKeys(["k" * 32]))
    assert isinstance(response.body, bytes)
    answer = orjson.loads(response.body)
    assert (answer["expires_at"], answer["session"]["model"]) == (1_700_000_600, "gpt-realtime")


def test_a_secret_expires_with_its_token() -> None:
    keys = ClientSecretKeys(["k" * 32])
    response = issue({}, caller=Caller("a", expires=NOW + 30), keys=keys)
    assert isinstance(response.body, bytes)
    assert orjson.loads(response.body)["expires_at"] == 1_700_000_030


NOISE = "".join(digest(str(number)) for number in range(200))


@each(
    ("changes", "status", "code"),
    [
        ({"keys": None}, 501, "not_implemented"),
        ({"routes": ()}, 501, "not_implemented"),
        ({"caller": None, "token": ""}, 401, "invalid_api_key"),
        ({"token": "jwt:https://issuer.example:1"}, 403, "token_not_allowed"),
        ({"body": []}, 400, "invalid_type"),
        ({"body": {"expires_after": {"seconds": 5}}}, 400, "invalid_value"),
        ({"body": {"session": {"instructions": NOISE}}}, 400, "session_too_large"),
        ({"routes": (SessionRoute(CONNECT, ""),)}, 400, "missing_required_parameter"),
        ({"caller": Caller("a", ("gpt-4o",))}, 403, "model_not_allowed"),
        ({"caller": Caller("a", operations=("x.*",))}, 403, "operation_not_allowed"),
        ({"body": {"session": {"model": "none"}}}, 404, "model_not_found"),
        ({"body": {"session": {"model": "gpt-4o"}}}, 404, "model_not_found"),
    ],
)
def test_what_cannot_be_issued_is_refused(changes: Any, status: int, code: str) -> None:
    with pytest.raises(GatewayError) as excinfo:
        issue(**{"body": {}, "keys": ClientSecretKeys(["k" * 32]), **changes})
    assert (excinfo.value.status, excinfo.value.code) == (status, code)
