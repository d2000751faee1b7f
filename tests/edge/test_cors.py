"""CORS: no origin unless a config lists it, and never with credentials."""

import falcon.testing
import pytest

from engine import dialects
from engine.edge.cors import Cors
from engine.edge.falcon_application import application
from engine.edge.falcon_responder import Responders, answer_errors
from engine.edge.path_operations import Resource
from engine.exchange.exchange import Response, compose
from engine.values.errors import GatewayError

ALLOWED_ORIGIN = "https://app.example.com"
OTHER = "https://evil.example.com"
PREFLIGHT = {
    "origin": ALLOWED_ORIGIN,
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,content-type, x-stainless-lang",
}
HEADERS = [("content-type", "text/plain")]


def refuse(exchange):
    raise GatewayError(401, "invalid_api_key", "no")


def client(*origins, handler=lambda exchange: Response(200, HEADERS, b"fine")):
    cors, responders = Cors(origins), Responders(1000, 1.0)
    stages = [*cors.stages(), answer_errors]
    app = application(responders, stages, cors=cors)
    responder = responders.responder(compose(stages, handler), [dialects.get("openai")])
    app.add_route("/v1/x", Resource("POST", "/v1", (), lambda: responder))
    return falcon.testing.TestClient(app)


def cors_headers(result):
    return {
        k: v for k, v in result.headers.items() if k.startswith("access-control") or k == "vary"
    }


def test_cors_is_off_by_default():
    result = client().simulate_post("/v1/x", headers={"origin": ALLOWED_ORIGIN})
    assert cors_headers(result) == {}
    preflight = client().simulate_options("/v1/x", headers=PREFLIGHT)
    assert preflight.status_code == 405
    assert cors_headers(preflight) == {}


def test_a_known_origin_may_read_what_sdks_read():
    result = client(ALLOWED_ORIGIN).simulate_post("/v1/x", headers={"origin": ALLOWED_ORIGIN})
    assert result.headers["access-control-allow-origin"] == ALLOWED_ORIGIN
    assert result.headers["vary"] == "origin"
    exposed = result.headers["access-control-expose-headers"]
    assert {
        *("x-request-id", "retry-after", "x-ratelimit-remaining-tokens", "x-modelway-dropped")
    } <= set(exposed.split(", "))
    assert "access-control-allow-credentials" not in result.headers


@pytest.mark.parametrize(
    "origin", [OTHER, "null", ALLOWED_ORIGIN + ".evil.com", ALLOWED_ORIGIN.upper(), None]
)
def test_any_other_may_not(origin):
    result = client(ALLOWED_ORIGIN).simulate_post(
        "/v1/x", headers={"origin": origin} if origin else {}
    )
    assert cors_headers(result) == {"vary": "origin"}


def test_a_star_is_any_origin():
    result = client("*").simulate_post("/v1/x", headers={"origin": OTHER})
    assert result.headers["access-control-allow-origin"] == "*"
    assert "vary" not in result.headers


def test_errors_and_misses_can_be_read_too():
    for result in (
        client(ALLOWED_ORIGIN, handler=refuse).simulate_post(
            "/v1/x", headers={"origin": ALLOWED_ORIGIN}
        ),
        client(ALLOWED_ORIGIN).simulate_get("/v1/nowhere", headers={"origin": ALLOWED_ORIGIN}),
    ):
        assert result.status_code in (401, 404)
        assert result.headers["access-control-allow-origin"] == ALLOWED_ORIGIN


def test_a_browser_may_ask_first_without_a_token():
    result = client(ALLOWED_ORIGIN, handler=refuse).simulate_options("/v1/x", headers=PREFLIGHT)
    assert result.status_code == 204
    assert result.headers["access-control-allow-methods"] == "POST"
    assert (
        result.headers["access-control-allow-headers"]
        == PREFLIGHT["access-control-request-headers"]
    )
    assert result.headers["access-control-allow-origin"] == ALLOWED_ORIGIN
    assert result.headers["access-control-max-age"] == "7200"
    assert "origin" in result.headers["vary"]


def test_asking_from_elsewhere_tells_nothing():
    result = client(ALLOWED_ORIGIN).simulate_options("/v1/x", headers=PREFLIGHT | {"origin": OTHER})
    assert set(cors_headers(result)) == {"vary"}


def test_an_invalid_list_of_headers_is_not_echoed():
    odd = PREFLIGHT | {"access-control-request-headers": "a b\tc;<script>"}
    result = client(ALLOWED_ORIGIN).simulate_options("/v1/x", headers=odd)
    assert "access-control-allow-headers" not in result.headers


def test_options_without_cors_headers_is_no_preflight():
    assert client(ALLOWED_ORIGIN).simulate_options("/v1/x").status_code == 405


def test_headers_of_one_answer_do_not_reach_the_next():
    api = client(ALLOWED_ORIGIN)
    for _ in range(3):
        api.simulate_post("/v1/x", headers={"origin": ALLOWED_ORIGIN})
    assert HEADERS == [("content-type", "text/plain")]
