"""Client secrets in requests: an attacker's table, and what a session is bound to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
import pytest
from msgspec.structs import replace

from engine import dialects
from engine.exchange.client_secret import ClientSecret
from engine.exchange.client_secret_keys import ClientSecretKeys
from engine.exchange.exchange import Exchange, Response
from engine.exchange.request_body import Body, ReceivedBody
from engine.exchange.stage_services import Services
from engine.spec.expression import parse
from engine.spec.security import BEARER, Carrier
from engine.stages.authenticate import authenticate
from engine.stages.client_secret import bind_first, bind_session
from engine.values.caller import Caller, digest
from engine.values.counters import Limit, TakeResult
from engine.values.errors import GatewayError
from tests.support.each import each
from tests.support.exchanges import new_exchange

TOKEN, ENDED, REVOKED = "mw-token", "mw-ended", "mw-revoked"
NOW = 1_700_000_000.0
OTHER_KEYS = ClientSecretKeys(["another key " * 4])
CARRIERS = (BEARER, Carrier("subprotocol", "openai-insecure-api-key."))
SESSION = {"type": "realtime"}
FORM = dialects.get("openai").client_secrets
MODEL = parse("$request.query.model")


def services() -> Services:
    tokens = {
        digest(TOKEN): Caller("shop", operations=("openai.*",)),
        digest(ENDED): Caller("late", expires=NOW - 1),
    }
    keys = ClientSecretKeys(["0123456789abcdef" * 2])
    return Services(tokens=tokens, clock=lambda: NOW, client_secrets=keys)


def enter(
    text: str, used: Services, *, accepts: bool = True, query: str = "", **environ: str
) -> Exchange:
    """The exchange behind the stages of a route."""
    exchange = new_exchange(
        "GET",
        query=query,
        environ={"HTTP_AUTHORIZATION": f"Bearer {text}", **environ},
        operation="openai.connectRealtime",
    )
    reached: list[Exchange] = []

    def last(exchange: Exchange) -> Response:
        reached.append(exchange)
        return Response(200, [])

    def bind(exchange: Exchange) -> Response:
        assert FORM is not None
        return bind_session(MODEL, FORM)(exchange, last)

    keys = used.client_secrets if accepts else None
    authenticate(CARRIERS, False, used, client_secrets=keys)(exchange, bind)
    return reached[0]


def sealed(used: Services, keys: Any = None, token: str = TOKEN, **changes: Any) -> str:
    secret = ClientSecret(digest(token), NOW + 60, "gpt-realtime", SESSION)
    text: str = (keys or used.client_secrets).seal(secret._replace(**changes))
    return text


def test_a_secret_stands_for_its_token() -> None:
    used = services()
    exchange = enter(sealed(used), used)
    assert exchange.caller is not None
    assert (exchange.caller.name, exchange.token) == ("shop", digest(TOKEN))
    assert exchange.record.client_secret is not None
    assert "HTTP_AUTHORIZATION" not in exchange.environ
    assert used.client_secrets is not None
    assert used.client_secrets.accepted == 1


def test_a_browser_sends_it_as_a_subprotocol_which_goes_no_further() -> None:
    used = services()
    protocols = f"realtime, openai-insecure-api-key.{sealed(used)}"
    exchange = enter("", used, HTTP_SEC_WEBSOCKET_PROTOCOL=protocols)
    assert exchange.environ["HTTP_SEC_WEBSOCKET_PROTOCOL"] == "realtime"


def _flipped(text: str) -> str:
    return text[:-9] + ("A" if text[-9] != "A" else "B") + text[-8:]


@each(
    ("attack", "words", "result"),
    [
        (lambda used: sealed(used, expires=NOW), "client secret has expired", "expired"),
        (lambda used: sealed(used, expires=NOW - 1), "client secret has expired", "expired"),
        (lambda used: sealed(used, token=ENDED), "client secret has expired", "expired"),
        (lambda used: sealed(used, token=REVOKED), "is not valid here", "invalid"),
        (lambda used: sealed(used, OTHER_KEYS), "is not valid here", "invalid"),
        (lambda used: sealed(used)[:-1], "is not valid here", "invalid"),
        (lambda used: _flipped(sealed(used)), "is not valid here", "invalid"),
        (lambda used: "ek_" + "A" * 300, "is not valid here", "invalid"),
        (lambda used: "ek_" + "A" * 100_000, "is not valid here", "invalid"),
        (lambda used: "mw-nobody", "token is not known", ""),
    ],
)
def test_an_attackers_secret_is_a_401(attack: Any, words: str, result: str) -> None:
    used = services()
    with pytest.raises(GatewayError) as excinfo:
        enter(attack(used), used)
    assert (excinfo.value.status, excinfo.value.code) == (401, "invalid_api_key")
    assert words in excinfo.value.message
    keys = used.client_secrets
    assert keys is not None
    counts = {name: getattr(keys, name) for name in ("accepted", "expired", "invalid")}
    assert counts == {name: int(name == result) for name in counts}


def test_another_operation_takes_no_secret() -> None:
    used = services()
    with pytest.raises(GatewayError, match="opens realtime sessions only") as excinfo:
        enter(sealed(used), used, accepts=False)
    assert excinfo.value.status == 401


def test_a_gateway_without_keys_takes_no_secret() -> None:
    used = services()
    without = Services(tokens=used.tokens, clock=used.clock)
    with pytest.raises(GatewayError, match="is not valid here"):
        enter(sealed(used), without)


def test_what_the_token_may_not_do_its_secret_may_not_do() -> None:
    used = services()
    tokens = {digest(TOKEN): Caller("shop", operations=("openai.createChatCompletion",))}
    narrow = Services(tokens=tokens, clock=used.clock, client_secrets=used.client_secrets)
    with pytest.raises(GatewayError) as excinfo:
        enter(sealed(used), narrow)
    assert excinfo.value.code == "operation_not_allowed"


def test_a_token_of_the_operator_may_begin_as_a_secret_does() -> None:
    used = services()
    own = Services(tokens={digest("ek_own"): Caller("own")}, client_secrets=used.client_secrets)
    assert enter("ek_own", own).record.client_secret is None


@each(
    ("query", "bound"),
    [
        ("", "model=gpt-realtime"),
        ("model=", "model=gpt-realtime"),
        ("model=gpt-realtime", "model=gpt-realtime"),
        ("other=1", "other=1&model=gpt-realtime"),
    ],
)
def test_a_session_has_the_model_of_its_secret(query: str, bound: str) -> None:
    used = services()
    assert enter(sealed(used), used, query=query).query == bound


@each(
    ("query", "param"),
    [
        ("model=other", "model"),
        ("model=gpt-realtime-2", "model"),
        ("Model=other", "model"),
        ("model=gpt-realtime&model=other", "model"),
        ("model=gpt-realtime&Model=other", "model"),
        ("call_id=rtc_1", "call_id"),
        ("Call_ID=rtc_1", "call_id"),
        ("call%5fid=rtc_1", "call_id"),
        ("intent=transcription", "intent"),
    ],
)
def test_a_session_asks_for_no_more_than_its_secret(query: str, param: str) -> None:
    used = services()
    with pytest.raises(GatewayError) as excinfo:
        enter(sealed(used), used, query=query)
    assert excinfo.value.status in (400, 403)
    assert excinfo.value.param == param


def test_a_token_itself_is_not_bound() -> None:
    used = services()
    assert enter(TOKEN, used, query="model=other&call_id=1").query == "model=other&call_id=1"


def test_a_secret_of_a_transcription_opens_one() -> None:
    used = services()
    secret = sealed(used, model="gpt-4o-transcribe", session={"type": "transcription"})
    query = "model=gpt-4o-transcribe"
    assert enter(secret, used, query=query).query == f"{query}&intent=transcription"
    with pytest.raises(GatewayError, match="with 'intent=transcription' only"):
        enter(secret, used, query=f"{query}&intent=conversation")


class TableCounters:
    """Counters whose windows do not end."""

    def __init__(self) -> None:
        self.taken: dict[str, int] = {}

    def take(self, limits: tuple[Limit, ...], costs: Sequence[int]) -> TakeResult:
        ((limit,), (cost,)) = limits, costs
        taken = self.taken.get(limit.key, 0)
        if taken + cost > limit.amount:
            return TakeResult(0, (0,), (1.0,))
        self.taken[limit.key] = taken + cost
        return TakeResult(None, (limit.amount - taken - cost,), (1.0,))

    def settle(self, receipt: object, costs: Sequence[int]) -> None:
        """Nothing is given back."""

    def close(self) -> None:
        """There is nothing to close."""


GEMINI = dialects.get("gemini").client_secrets
LIVE = "/ws/x.BidiGenerateContentConstrained"


def begin(secret: ClientSecret | None, used: Services, message: Any = None) -> tuple[str, Any]:
    """The path and the first message of a session as an upstream gets them."""
    body = Body(orjson.dumps({"setup": {"model": "m"}} if message is None else message))
    exchange = new_exchange(path=LIVE, body_reader=ReceivedBody(body, 1_000))
    exchange.record.client_secret = secret
    seen: list[tuple[str, Any]] = []

    def last(exchange: Exchange) -> Response:
        data = bytes(exchange.body_reader.receive().buffer)
        seen.append((exchange.path, orjson.loads(data)))
        return Response(101, [])

    assert GEMINI is not None
    bind_first(GEMINI, used)(exchange, last)
    exchange.end()
    assert exchange.path == LIVE
    return seen[0]


def live_secret(name: str = "1", **more: Any) -> ClientSecret:
    session = {"begin": NOW + 60, "end": NOW + 1_800, "uses": 2, **more}
    return ClientSecret(digest(TOKEN), NOW + 1_800, "", session, name)


def test_a_session_of_a_token_is_one_of_the_gateways_credential() -> None:
    path, message = begin(None, services())
    assert (path, message) == ("/ws/x.BidiGenerateContent", {"setup": {"model": "m"}})


def test_the_settings_of_a_secret_are_the_first_message() -> None:
    secret = live_secret(setup={"model": "n"})
    assert begin(secret, services())[1] == {"setup": {"model": "n"}}
    assert begin(secret, services(), [1])[1] == {"setup": {"model": "n"}}


def test_sessions_are_counted_until_there_are_none_left() -> None:
    used = replace(services(), counters=TableCounters())
    resumed = {"setup": {"sessionResumption": {"handle": "h"}}}
    for _ in range(2):
        begin(live_secret(), used)
        begin(live_secret(), used, resumed)
        begin(live_secret("2", uses=0), used)
    for secret in (live_secret(), live_secret("3", begin=NOW)):
        with pytest.raises(GatewayError) as excinfo:
            begin(secret, used)
        assert excinfo.value.status == 401
    begin(live_secret(), used, resumed)
    begin(live_secret("4"), used)


def test_a_secret_of_another_api_begins_nothing() -> None:
    with pytest.raises(GatewayError) as excinfo:
        begin(ClientSecret(digest(TOKEN), NOW + 9, "m", SESSION), services())
    assert excinfo.value.status == 403
