"""Carriers of tokens, one by one; `test_authenticate.py` has them behind each other."""

import base64

import pytest

from engine.spec.security import BASIC, BEARER, Carrier
from engine.stages.token_carriers import challenge_of, places_text, secret_in, secrets_remover
from tests.support.exchanges import new_exchange

COOKIE = Carrier("cookie", "t")
HEADER = Carrier("header", "x-api-key")
QUERY = Carrier("query", "key")
SUBPROTOCOL = Carrier("subprotocol", "openai-insecure-api-key.")
PASSWORD = "Basic " + base64.b64encode(b"ann:s").decode()


@pytest.mark.parametrize(
    ("carrier", "query", "key", "value", "secret"),
    [
        (BEARER, "", "HTTP_AUTHORIZATION", "bearer  s ", "s"),
        (BEARER, "", "HTTP_AUTHORIZATION", PASSWORD, None),
        (BASIC, "", "HTTP_AUTHORIZATION", PASSWORD, "s"),
        (BASIC, "", "HTTP_AUTHORIZATION", "Bearer s", None),
        (BASIC, "", "HTTP_AUTHORIZATION", "Basic ~", None),
        (HEADER, "", "HTTP_X_API_KEY", "s", "s"),
        (HEADER, "", "HTTP_X_OTHER", "s", None),
        (QUERY, "a=1&key=s%20t", "HTTP_HOST", "", "s t"),
        (QUERY, "a=1", "HTTP_HOST", "", None),
        (COOKIE, "", "HTTP_COOKIE", 'a=b; t="s"', "s"),
        (COOKIE, "", "HTTP_COOKIE", "a=b", ""),
        (SUBPROTOCOL, "", "HTTP_SEC_WEBSOCKET_PROTOCOL", "x, OpenAI-Insecure-API-Key.s", "s"),
        (SUBPROTOCOL, "", "HTTP_SEC_WEBSOCKET_PROTOCOL", "realtime", None),
    ],
)
def test_a_carrier_has_a_secret_or_none(carrier, query, key, value, secret):
    assert secret_in(new_exchange("GET", "/", query, {key: value}), carrier) == secret


def test_what_carries_a_secret_is_removed_and_nothing_else():
    environ = {
        "HTTP_AUTHORIZATION": "Bearer s",
        "HTTP_X_API_KEY": "s",
        "HTTP_COOKIE": "t=s",
        "HTTP_SEC_WEBSOCKET_PROTOCOL": "realtime, openai-insecure-api-key.s",
        "HTTP_X_OTHER": "o",
    }
    exchange = new_exchange("GET", "/", "key=s&a=1", environ)
    secrets_remover([BEARER, HEADER, QUERY, COOKIE, SUBPROTOCOL])(exchange)
    rest = {name: value for name, value in exchange.environ.items() if name in environ}
    assert rest == {"HTTP_SEC_WEBSOCKET_PROTOCOL": "realtime", "HTTP_X_OTHER": "o"}
    assert exchange.query == "a=1"


@pytest.mark.parametrize("carrier", [BEARER, BASIC, HEADER, QUERY, COOKIE, SUBPROTOCOL])
def test_a_carrier_alone_leaves_no_secret(carrier):
    environ = {
        "HTTP_AUTHORIZATION": "secret",
        "HTTP_X_API_KEY": "secret",
        "HTTP_COOKIE": "t=secret",
        "HTTP_SEC_WEBSOCKET_PROTOCOL": "realtime, openai-insecure-api-key.secret",
    }
    exchange = new_exchange("GET", "/", "key=secret", environ)
    secrets_remover([carrier])(exchange)
    values = [*(exchange.environ.get(key, "") for key in environ), exchange.query]
    assert sum("secret" in value for value in values) == len(values) - 1


@pytest.mark.parametrize(
    ("carriers", "schemes"),
    [([HEADER], ["Bearer"]), ([BASIC], ["Basic"]), ([BASIC, BEARER], ["Bearer", "Basic"])],
)
def test_a_challenge_names_the_schemes(carriers, schemes):
    assert [value.partition(" ")[0] for _, value in challenge_of(carriers)] == schemes


def test_a_message_names_each_place():
    places = places_text([BEARER, HEADER, QUERY, COOKIE])
    assert places == (
        "'Authorization: Bearer <token>' or header 'x-api-key' or query parameter 'key' or "
        "cookie 't'"
    )
