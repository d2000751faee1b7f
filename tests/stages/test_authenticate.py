"""Authentication: tokens in every carrier, and their removal from the request."""

import base64

import pytest
from msgspec.structs import replace

from engine.callers.jwt.refusal import KeysUnavailable, TokenRefused
from engine.edge.origin import SameOrigin
from engine.exchange.caller_connection import InternalCaller, InternalConnection
from engine.exchange.exchange import Response
from engine.exchange.stage_services import Services
from engine.exchange.token_bucket import GuessLimit
from engine.spec.security import BASIC, BEARER, Carrier
from engine.stages.authenticate import authenticate
from engine.values.caller import Caller, digest
from engine.values.client_address import networks
from engine.values.errors import GatewayError
from tests.support.exchanges import new_exchange

SECRET, OTHER, EXPIRED = "mw-secret", "mw-other", "mw-expired"
NOW = 1_000_000.0
SERVICES = Services(
    tokens={
        digest(SECRET): Caller("alice", expires=NOW + 1),
        digest(OTHER): Caller("bob"),
        digest(EXPIRED): Caller("carol", expires=NOW),
    },
    clock=lambda: NOW,
)
HEADER, QUERY, COOKIE = (
    Carrier("header", "x-api-key"),
    Carrier("query", "key"),
    Carrier("cookie", "t"),
)


def call(carriers, query="", anonymous=False, **environ):
    """The exchange as the next stage sees it."""
    exchanges = []

    def following(exchange):
        exchanges.append(exchange)
        return Response(200, [])

    exchange = new_exchange("GET", "/", query, {"REQUEST_METHOD": "GET", **environ})
    authenticate(carriers, anonymous, SERVICES)(exchange, following)
    return exchanges[0]


def refusal(carriers, query="", **environ):
    with pytest.raises(GatewayError) as excinfo:
        call(carriers, query, **environ)
    error = excinfo.value
    assert (error.status, error.code) == (401, "invalid_api_key")
    assert ("www-authenticate", "Bearer") in error.headers
    return error.message


@pytest.mark.parametrize(
    ("carrier", "query", "environ"),
    [
        (BEARER, "", {"HTTP_AUTHORIZATION": f"Bearer {SECRET}"}),
        (BEARER, "", {"HTTP_AUTHORIZATION": f"bearer {SECRET}"}),
        (BEARER, "", {"HTTP_AUTHORIZATION": f"BEARER   {SECRET} "}),
        (HEADER, "", {"HTTP_X_API_KEY": SECRET}),
        (QUERY, f"key={SECRET}", {}),
        (QUERY, f"a=b&key={SECRET}&c=d", {}),
        (QUERY, "key=mw%2Dsecret", {}),
        (COOKIE, "", {"HTTP_COOKIE": f"t={SECRET}"}),
        (COOKIE, "", {"HTTP_COOKIE": f"a=b; t={SECRET}; c=d"}),
        (COOKIE, "", {"HTTP_COOKIE": f'a=b; t="{SECRET}"'}),
    ],
)
def test_a_token_is_read_from_its_carrier(carrier, query, environ):
    exchange = call([carrier], query, **environ)
    assert exchange.caller is not None
    assert exchange.caller.name == "alice"


@pytest.mark.parametrize(
    "cookie",
    ['x={"a":1}; t=%s', "x y=z; t=%s", "é=1; t=%s", "; ; t=%s", "a@b=c; t=%s", "[x]=1;t=%s"],
)
def test_a_token_in_a_cookie_is_read_beside_invalid_cookies(cookie):
    assert call([COOKIE], HTTP_COOKIE=cookie % SECRET).caller.name == "alice"


@pytest.mark.parametrize(
    ("carrier", "query", "environ"),
    [
        (BEARER, "", {"HTTP_X_API_KEY": SECRET}),
        (BEARER, f"key={SECRET}", {}),
        (BEARER, "", {"HTTP_AUTHORIZATION": SECRET}),
        (BEARER, "", {"HTTP_AUTHORIZATION": f"Basic {SECRET}"}),
        (BEARER, "", {"HTTP_AUTHORIZATION": f"Bearer{SECRET}"}),
        (HEADER, "", {"HTTP_AUTHORIZATION": f"Bearer {SECRET}"}),
        (HEADER, "", {"HTTP_X_API_KEY": f"Bearer {SECRET}"}),
        (QUERY, f"Key={SECRET}", {}),
        (QUERY, "key", {}),
        (QUERY, "key=", {}),
        (COOKIE, "", {"HTTP_COOKIE": f"T={SECRET}"}),
        (COOKIE, "", {"HTTP_COOKIE": f"xt={SECRET}"}),
    ],
)
def test_a_token_elsewhere_is_ignored(carrier, query, environ):
    refusal([carrier], query, **environ)


def test_all_carriers_are_tried():
    carriers = [HEADER, BEARER, QUERY]
    assert call(carriers, HTTP_AUTHORIZATION=f"Bearer {SECRET}").caller.name == "alice"
    assert call(carriers, f"key={SECRET}", HTTP_X_API_KEY="").caller.name == "alice"
    assert call(carriers, f"key={OTHER}", HTTP_X_API_KEY="wrong").caller.name == "bob"


def test_of_two_tokens_the_first_carrier_counts():
    environ = {"HTTP_X_API_KEY": OTHER, "HTTP_AUTHORIZATION": f"Bearer {SECRET}"}
    assert call([HEADER, BEARER], **environ).caller.name == "bob"
    assert call([BEARER, HEADER], **environ).caller.name == "alice"


def test_an_expired_token_beside_a_valid_one_is_ignored():
    environ = {"HTTP_X_API_KEY": EXPIRED, "HTTP_AUTHORIZATION": f"Bearer {SECRET}"}
    assert call([HEADER, BEARER], **environ).caller.name == "alice"


def test_a_request_without_a_token_is_told_the_carriers():
    message = refusal([BEARER, HEADER, QUERY, COOKIE])
    for words in ("Authorization: Bearer", "x-api-key", "'key'", "'t'"):
        assert words in message


def test_the_refusal_of_an_unknown_token():
    message = refusal([BEARER], HTTP_AUTHORIZATION="Bearer mw-nobody")
    assert "not known" in message
    assert "mw-nobody" not in message


def test_the_refusal_of_an_expired_token():
    assert "expired" in refusal([HEADER], HTTP_X_API_KEY=EXPIRED)


@pytest.mark.parametrize(
    "secret", ["x" * 5000, "x" * 1_000_000, "é", "\xff\xfe", "\x00", " ", "Bearer", digest(SECRET)]
)
def test_any_other_text_is_refused_with_401(secret):
    refusal([HEADER, BEARER], HTTP_X_API_KEY=secret, HTTP_AUTHORIZATION=f"Bearer {secret}")


def test_a_repeated_query_parameter_is_removed_completely():
    """An upstream must not read a token that was not checked here."""
    exchange = call([QUERY], f"key={SECRET}&key=mw-nobody&a=b")
    assert exchange.query == "a=b"


def test_duplicate_headers_joined_by_the_server_are_not_a_token():
    refusal([HEADER], HTTP_X_API_KEY=f"{SECRET},{SECRET}")
    refusal([BEARER], HTTP_AUTHORIZATION=f"Bearer {SECRET},Bearer {SECRET}")


@pytest.mark.parametrize("public", [False, True])
def test_the_token_is_removed_from_the_request(public):
    exchange = call(
        [BEARER, HEADER, QUERY, COOKIE],
        f"a=b&key={SECRET}&c=%20d&key=x",
        public,
        HTTP_AUTHORIZATION=f"Bearer {SECRET}",
        HTTP_X_API_KEY=SECRET,
        HTTP_COOKIE=f"t={SECRET}; other=1",
        HTTP_X_OTHER="kept",
    )
    assert SECRET not in str(exchange.environ) + exchange.query
    assert exchange.query == "a=b&c=%20d"
    assert exchange.environ["HTTP_X_OTHER"] == "kept"


def test_the_environ_of_the_server_is_unchanged():
    environ = {"HTTP_X_API_KEY": SECRET}
    exchange = new_exchange("GET", "/", "", environ)
    authenticate([HEADER], False, SERVICES)(exchange, lambda _: Response(200, []))
    assert environ == {"HTTP_X_API_KEY": SECRET}


def test_a_public_route_needs_no_token():
    exchange = call([BEARER], anonymous=True)
    assert exchange.caller is None
    assert call([BEARER], anonymous=True, HTTP_AUTHORIZATION="Bearer wrong").caller is None


def test_a_query_without_a_token_is_unchanged():
    environ = {"HTTP_AUTHORIZATION": f"Bearer {SECRET}"}
    for query in ("a=1&b=%20&&c", "a[]=x&a[]=y", "q=a+b%2B"):
        assert call([BEARER, QUERY], query, **environ).query == query


def test_without_tokens_every_request_is_refused():
    exchange = new_exchange("GET", "/", "", {"HTTP_X_API_KEY": ""})
    stage = authenticate([HEADER], False, Services())
    with pytest.raises(GatewayError):
        stage(exchange, lambda _: Response(200, []))


def test_the_response_of_the_next_stage_is_returned():
    answer = Response(204, [])
    exchange = new_exchange("GET", "/", "", {"HTTP_X_API_KEY": SECRET})
    assert authenticate([HEADER], False, SERVICES)(exchange, lambda _: answer) is answer


# Operations and addresses of a token.


def permitted(caller, operation="openai.chat", address="10.1.1.1", **settings):
    services = Services(tokens={digest(SECRET): caller})
    environ = {"HTTP_AUTHORIZATION": f"Bearer {SECRET}", "REMOTE_ADDR": address}
    exchange = new_exchange("GET", "/", "", environ, operation=operation)
    try:
        stage = authenticate([BEARER], False, services, **settings)
        stage(exchange, lambda _: Response(200, []))
    except GatewayError as error:
        return error.status, error.code
    return 200, ""


@pytest.mark.parametrize(
    ("operations", "result"),
    [
        (None, (200, "")),
        (("openai.*",), (200, "")),
        (("other.*",), (403, "operation_not_allowed")),
        ((), (403, "operation_not_allowed")),
    ],
)
def test_a_token_for_some_operations(operations, result):
    assert permitted(Caller("alice", operations=operations)) == result


def test_a_token_that_may_not_open_a_socket_is_told_to_use_http():
    caller = Caller("alice", operations=("openai.createResponse",))
    assert permitted(caller, "openai.connectResponses", has_http=True) == (
        *(426,),
        "operation_not_allowed",
    )
    assert permitted(caller, "openai.createResponse") == (200, "")


@pytest.mark.parametrize(
    ("ips", "result"),
    [
        (None, (200, "")),
        (("10.0.0.0/8",), (200, "")),
        (("11.0.0.0/8",), (403, "address_not_allowed")),
        ((), (403, "address_not_allowed")),
    ],
)
def test_a_token_for_some_addresses(ips, result):
    assert permitted(Caller("alice", ips=ips)) == result


KEYED = Carrier("subprotocol", "openai-insecure-api-key.")
OFFERED = "HTTP_SEC_WEBSOCKET_PROTOCOL"


@pytest.mark.parametrize(
    ("header", "remaining"),
    [
        (f"openai-insecure-api-key.{SECRET}", None),
        (f"realtime, openai-insecure-api-key.{SECRET}", "realtime"),
        (f"openai-insecure-api-key.{SECRET},realtime,,b", "realtime, b"),
        (f"OpenAI-Insecure-API-Key.{SECRET}, realtime", "realtime"),
        (f"openai-insecure-api-key.{SECRET}, openai-insecure-api-key.other, c", "c"),
    ],
)
def test_a_token_in_a_subprotocol_is_removed(header, remaining):
    exchange = call((BEARER, KEYED), **{OFFERED: header})
    assert exchange.caller.name == "alice"
    assert exchange.header(OFFERED) == remaining
    assert SECRET not in str(exchange.environ)


def test_a_token_in_a_subprotocol_is_removed_on_a_public_route_too():
    exchange = call((KEYED,), anonymous=True, **{OFFERED: f"openai-insecure-api-key.{SECRET}, a"})
    assert (exchange.caller, exchange.header(OFFERED)) == (None, "a")


@pytest.mark.parametrize("header", ["realtime", "", "openai-insecure-api-key.", "openai-insecure"])
def test_subprotocols_without_a_token(header):
    message = refusal((BEARER, KEYED), **{OFFERED: header})
    assert "subprotocol 'openai-insecure-api-key.<token>'" in message


def test_subprotocols_that_carry_no_token_remain():
    exchange = call((HEADER,), HTTP_X_API_KEY=SECRET, **{OFFERED: "a, b"})
    assert exchange.header(OFFERED) == "a, b"


def basic(pair):
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


@pytest.mark.parametrize("user", ["", "alice", "anybody", "bob@example.com"])
def test_the_password_of_http_basic_is_the_token_of_any_user(user):
    exchange = call([BASIC], HTTP_AUTHORIZATION=basic(f"{user}:{SECRET}"))
    assert exchange.caller.name == "alice"
    assert "HTTP_AUTHORIZATION" not in exchange.environ


@pytest.mark.parametrize(
    "header",
    [
        f"Bearer {SECRET}",
        f"Basic {SECRET}",
        basic(SECRET),  # without a colon there is no password
        basic(f"{SECRET}:"),
        basic(f"a:{SECRET}:"),
        basic(f"a:{SECRET}") + "=",
        "Basic",
        "Basic ",
        "Basic ====",
        "Basic \xe9\xff",
        "Basic " + base64.b64encode(b"a:\xff\xfe").decode(),
        "Basic " + "A" * 1_000_000,
    ],
)
def test_an_invalid_password_of_http_basic_is_refused(header):
    with pytest.raises(GatewayError) as excinfo:
        call([BASIC], HTTP_AUTHORIZATION=header)
    assert excinfo.value.status == 401
    assert excinfo.value.headers == [
        ("www-authenticate", 'Basic realm="modelway", charset="UTF-8"')
    ]
    assert SECRET not in excinfo.value.message


def test_basic_and_bearer_share_a_header_and_a_401_names_both():
    for header in (f"Bearer {SECRET}", basic(f"x:{SECRET}")):
        assert call([BEARER, BASIC], HTTP_AUTHORIZATION=header).caller.name == "alice"
    with pytest.raises(GatewayError) as excinfo:
        call([BEARER, BASIC])
    assert [name for name, _ in excinfo.value.headers] == ["www-authenticate"] * 2
    assert "HTTP Basic" in excinfo.value.message


CREDENTIALS = {
    COOKIE: {"HTTP_COOKIE": f"t={SECRET}"},
    BASIC: {"HTTP_AUTHORIZATION": basic(f"x:{SECRET}")},
    Carrier("header", "cookie"): {"HTTP_COOKIE": SECRET},
}
OTHER_PAGE = {"HTTP_HOST": "gw.example.com", "HTTP_ORIGIN": "https://evil.example.com"}


@pytest.mark.parametrize("carrier", CREDENTIALS)
def test_a_token_that_a_browser_attaches_is_refused_from_another_page(carrier):
    with pytest.raises(GatewayError) as excinfo:
        call([carrier], **CREDENTIALS[carrier], **OTHER_PAGE)
    assert (excinfo.value.status, excinfo.value.code) == (403, "origin_not_allowed")
    same_page = OTHER_PAGE | {"HTTP_ORIGIN": "https://gw.example.com"}
    assert call([carrier], **CREDENTIALS[carrier], **same_page).caller.name == "alice"


def test_another_page_may_send_a_token_itself():
    environ = {**CREDENTIALS[COOKIE], **OTHER_PAGE, "HTTP_AUTHORIZATION": f"Bearer {OTHER}"}
    assert call([COOKIE, BEARER], **environ).caller.name == "bob"
    assert call([BEARER, HEADER], **OTHER_PAGE, HTTP_X_API_KEY=OTHER).caller.name == "bob"


def test_another_page_with_a_wrong_token_does_not_fall_back_on_the_cookie():
    assert "not known" in refusal(
        [BEARER, COOKIE], **CREDENTIALS[COOKIE], **OTHER_PAGE, HTTP_AUTHORIZATION="Bearer mw-nobody"
    )


def test_without_a_cookie_the_origin_does_not_matter():
    assert "no token" in refusal([COOKIE], **OTHER_PAGE)
    assert call([COOKIE], anonymous=True, **CREDENTIALS[COOKIE], **OTHER_PAGE).caller is None


def test_pages_of_the_listed_origins_may_use_a_cookie():
    exchanges = []
    stage = authenticate(
        [COOKIE], False, SERVICES, same_origin=SameOrigin(["https://evil.example.com"])
    )
    stage(
        new_exchange("GET", "/", "", {**CREDENTIALS[COOKIE], **OTHER_PAGE}),
        lambda exchange: exchanges.append(exchange) or Response(200, []),
    )
    assert exchanges[0].caller.name == "alice"


def attempt(services, secret, address="192.0.2.1", **environ):
    """The status and headers of a request with this token."""
    environ |= {"HTTP_AUTHORIZATION": f"Bearer {secret}", "REMOTE_ADDR": address}
    exchange = new_exchange("GET", "/", "", environ)
    try:
        authenticate([BEARER], False, services)(exchange, lambda _: Response(200, []))
    except GatewayError as error:
        return error.status, dict(error.headers)
    return 200, {}


def test_many_unknown_tokens_of_an_address_are_429_and_known_tokens_pass():
    services = replace(SERVICES, guesses=GuessLimit(burst=3.0, clock=lambda: 0.0))
    assert [attempt(services, f"guess {n}")[0] for n in range(4)] == [401, 401, 401, 429]
    assert attempt(services, "guess")[1]["retry-after"] == "1"
    assert attempt(services, SECRET)[0] == 200
    assert attempt(services, EXPIRED)[0] == 401
    assert attempt(services, "guess", address="192.0.2.2")[0] == 401


def test_behind_a_proxy_each_client_has_its_own_count_of_unknown_tokens():
    services = replace(
        SERVICES,
        guesses=GuessLimit(burst=1.0, clock=lambda: 0.0),
        proxies=networks(["10.0.0.0/8"]),
    )
    clients = ["192.0.2.1", "192.0.2.2", "9.9.9.9, 192.0.2.1"]
    statuses = [
        attempt(services, "guess", address="10.0.0.1", HTTP_X_FORWARDED_FOR=client)[0]
        for client in clients
    ]
    assert statuses == [401, 401, 429]


# Calls from inside of the process.


def call_inside(internal, *carriers, anonymous=False, **environ):
    connection = InternalConnection(b"", internal)
    exchange = new_exchange("GET", "/", "", environ, operation="openai.chat", connection=connection)
    authenticate(carriers or [BEARER], anonymous, SERVICES)(exchange, lambda _: Response(200, []))
    return exchange


def test_a_call_from_inside_has_its_caller_and_the_token_of_which_it_depends():
    exchange = call_inside(InternalCaller(Caller("inside"), "digest"))
    assert (exchange.caller, exchange.token) == (Caller("inside"), "digest")


def test_a_token_in_a_call_from_inside_is_removed_and_of_no_account():
    authorization = {"HTTP_AUTHORIZATION": f"Bearer {SECRET}"}
    exchange = call_inside(InternalCaller(Caller("inside")), **authorization)
    assert (exchange.caller, exchange.token) == (Caller("inside"), "")
    assert "HTTP_AUTHORIZATION" not in exchange.environ
    with pytest.raises(GatewayError, match="has no token"):
        call_inside(InternalCaller(None), **authorization)


def test_a_call_from_inside_has_the_rights_of_its_caller():
    for caller, code in (
        (Caller("inside", operations=("other.*",)), "operation_not_allowed"),
        (Caller("inside", ips=("10.0.0.0/8",)), "address_not_allowed"),
    ):
        with pytest.raises(GatewayError) as excinfo:
            call_inside(InternalCaller(caller), REMOTE_ADDR="192.0.2.1")
        assert (excinfo.value.status, excinfo.value.code) == (403, code)


def test_a_call_from_inside_to_a_public_operation_has_no_caller():
    assert call_inside(InternalCaller(Caller("inside")), anonymous=True).caller is None


def test_a_copy_of_a_file_has_its_caller_at_a_public_operation_too():
    internal = InternalCaller(Caller("inside"), "digest", is_copy=True)
    exchange = call_inside(internal, anonymous=True)
    assert (exchange.caller, exchange.token) == (Caller("inside"), "digest")


def test_a_caller_whose_token_has_expired_calls_nothing():
    with pytest.raises(GatewayError, match="expired") as excinfo:
        call_inside(InternalCaller(Caller("inside", expires=1.0)))
    assert excinfo.value.status == 401


class Signed:
    """Tokens of another issuer, by what they begin with."""

    def is_signed(self, secret):
        return secret.startswith("eyJ")

    def caller(self, secret):
        if secret == "eyJ.away":
            raise KeysUnavailable("the address of the keys")
        if secret != "eyJ.ada":
            raise TokenRefused("The token is odd.", is_known=secret == "eyJ.known")
        return Caller("ada", operations=("spec.*",)), "jwt:ada"


def signed(secret, services=replace(SERVICES, signed_tokens=Signed())):  # noqa: B008
    exchange = new_exchange("GET", "/", "", {"HTTP_AUTHORIZATION": f"Bearer {secret}"})
    exchange.operation = "spec.chat"
    seen = []
    stage = authenticate([BEARER], False, services)
    stage(exchange, lambda exchange: seen.append(exchange) or Response(200, []))
    return seen[0]


def test_a_token_of_another_issuer_has_its_caller():
    exchange = signed("eyJ.ada")
    assert (exchange.caller.name, exchange.token) == ("ada", "jwt:ada")
    assert "HTTP_AUTHORIZATION" not in exchange.environ


def test_a_refused_token_of_another_issuer_says_why():
    with pytest.raises(GatewayError) as raised:
        signed("eyJ.odd")
    assert (raised.value.status, raised.value.message) == (401, "The token is odd.")


def test_forged_tokens_are_guesses_and_those_of_an_issuer_are_not():
    services = replace(SERVICES, signed_tokens=Signed(), guesses=GuessLimit(0.001, 1))
    for secret, status in (
        ("eyJ.known", 401),
        ("eyJ.known", 401),
        ("eyJ.odd", 401),
        ("eyJ.odd", 429),
    ):
        with pytest.raises(GatewayError) as raised:
            signed(secret, services)
        assert raised.value.status == status


def test_an_issuer_without_keys_is_no_fault_of_the_caller():
    with pytest.raises(GatewayError) as raised:
        signed("eyJ.away")
    assert (raised.value.status, raised.value.code) == (503, "keys_unavailable")
    assert "address" not in raised.value.message


def test_a_refused_token_of_another_issuer_hides_none_behind_it():
    environ = {"HTTP_AUTHORIZATION": "Bearer eyJ.odd", "HTTP_X_API_KEY": OTHER}
    exchange = new_exchange("GET", "/", "", environ, operation="spec.chat")
    services = replace(SERVICES, signed_tokens=Signed())
    authenticate([BEARER, HEADER], False, services)(exchange, lambda _: Response(200, []))
    assert exchange.caller.name == "bob"


def test_a_token_that_is_too_long_is_not_looked_up():
    long = "mw-" + "0" * 4_094
    services = replace(SERVICES, tokens={digest(long): Caller("alice")})
    exchange = new_exchange("GET", "/", "", {"HTTP_X_API_KEY": long}, operation="spec.chat")
    with pytest.raises(GatewayError, match="not known"):
        authenticate([HEADER], False, services)(exchange, lambda _: Response(200, []))


class Sessions:
    """Sign-in of which a page's cookie `s=1` is the session, and any other one has ended."""

    def caller(self, environ):
        cookie = environ.get("HTTP_COOKIE")
        if cookie is None:
            return None
        if cookie != "s=1":
            raise TokenRefused("The session has ended. Sign in again.", is_known=True)
        return Caller("sso:ada", operations=("pages.*",)), "jwt:issuer\nid"


def enter(sign_in, operation="pages.show", **environ):
    exchange = new_exchange("GET", "/", "", {"REQUEST_METHOD": "GET", **environ})
    exchange.operation = operation
    stage = authenticate([BEARER], False, SERVICES, sign_in=sign_in)
    stage(exchange, lambda exchange: Response(200, []))
    return exchange


def test_a_session_stands_for_a_token_and_goes_no_further():
    exchange = enter(Sessions(), HTTP_COOKIE="s=1")
    assert (exchange.caller.name, exchange.token) == ("sso:ada", "jwt:issuer\nid")
    assert "HTTP_COOKIE" not in exchange.environ


def test_a_token_counts_before_a_session():
    headers = {"HTTP_COOKIE": "s=1", "HTTP_AUTHORIZATION": f"Bearer {SECRET}"}
    assert enter(Sessions(), **headers).caller.name == "alice"
    with pytest.raises(GatewayError, match="not known here"):
        enter(Sessions(), **headers | {"HTTP_AUTHORIZATION": "Bearer mw-wrong"})


def test_a_session_has_the_rights_of_its_caller():
    with pytest.raises(GatewayError, match="may not call") as raised:
        enter(Sessions(), operation="other.do", HTTP_COOKIE="s=1")
    assert raised.value.status == 403


@pytest.mark.parametrize(
    ("sign_in", "cookie", "code"),
    [
        (Sessions(), "s=2", "invalid_session"),
        (Sessions(), None, "invalid_api_key"),
        (None, "s=1", "invalid_api_key"),
    ],
)
def test_without_a_session_that_is_valid_a_request_is_refused(sign_in, cookie, code):
    with pytest.raises(GatewayError) as raised:
        enter(sign_in, **({} if cookie is None else {"HTTP_COOKIE": cookie}))
    assert (raised.value.status, raised.value.code) == (401, code)
