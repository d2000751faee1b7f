"""Sign-in to the pages over HTTP: `/console/sign-in` begins it, its callback ends it,
`/console/session` says who is signed in, and a POST to `/console/sign-out` ends the session.
"""

from __future__ import annotations

import logging
from html import escape
from pathlib import Path

import orjson

from engine.callers.jwt.refusal import TokenRefused
from engine.callers.sign_in.refusal import ProviderUnavailable, SignInRefused
from engine.config.console import HOME, PAGES, SIGN_IN
from engine.console.asset import GUARDS
from engine.exchange.exchange import Exchange, Handler, Response
from engine.exchange.sign_in import SignIn
from engine.exchange.stage_services import Services
from engine.plan.plan import Plan
from engine.process.log_throttle import LogThrottle
from engine.spec.parameters.query_string import Query
from engine.values.errors import GatewayError

log = logging.getLogger("modelway")

_HTML = Path(__file__).resolve().parent / "page" / "sign_in.html"
_NO_STORE = [("cache-control", "no-store"), *GUARDS]
_JSON = [("content-type", "application/json"), *_NO_STORE]
_RETRY_SECONDS = 5
_AWAY = "The sign-in is not available at this moment: the provider does not answer as it should."


def begin(plan: Plan, services: Services) -> Handler:
    """A handler that sends a person to the provider, and then to the page of the parameter `to`:
    one of the console's own paths, else the home page."""
    console = plan.config.console
    pages = {page.path for page in PAGES if page is not SIGN_IN and console.serves(page)}
    away = LogThrottle()

    def handle(exchange: Exchange) -> Response:
        sign_in = _sign_in(services)
        to = dict(Query.parse(exchange.query).items()).get("to", "")
        try:
            start = sign_in.begin(to if to in pages else HOME.path)
        except ProviderUnavailable as error:
            away.log("nobody can sign in: %s", error)
            return _failure(sign_in, 503, _AWAY)
        return _redirect(start.address, start.cookie)

    return handle


def finish(plan: Plan, services: Services) -> Handler:
    """A handler of the callback: it begins a session, and goes on to a page of the console."""
    away, refused = LogThrottle(), LogThrottle(level=logging.INFO)

    def handle(exchange: Exchange) -> Response:
        sign_in = _sign_in(services)
        try:
            arrival = sign_in.finish(exchange.query, exchange.environ)
        except SignInRefused as error:
            refused.log("a sign-in was refused: %s", error)
            response = _failure(sign_in, 403 if error.is_forbidden else 400, str(error))
            if not error.is_other:
                response.headers.append(("set-cookie", sign_in.forget()))
            return response
        except ProviderUnavailable as error:  # the same address may be tried again
            away.log("a sign-in failed: %s", error)
            return _failure(sign_in, 503, _AWAY)
        log.info("%s has signed in to the pages", arrival.caller.name)
        return _redirect(sign_in.base_url + arrival.page, *arrival.cookies)

    return handle


def session(plan: Plan, services: Services) -> Handler:
    """A handler that says where one signs in, and who is signed in."""

    def handle(exchange: Exchange) -> Response:
        sign_in = _sign_in(services)
        answer: dict[str, object] = {"sign_in": sign_in.base_url + SIGN_IN.path, "caller": None}
        try:
            if (person := sign_in.caller(exchange.environ)) is not None:
                caller, _ = person
                answer["caller"] = {
                    "name": caller.name,
                    "team": caller.team,
                    "expires": caller.expires,
                }
        except TokenRefused as error:
            answer["reason"] = str(error)
        return Response(200, [*_JSON], orjson.dumps(answer))

    return handle


def sign_out(plan: Plan, services: Services) -> Handler:
    """A handler that ends the session, and says where one also signs out at the provider."""

    def handle(exchange: Exchange) -> Response:
        sign_in = _sign_in(services)
        if not sign_in.is_own_fetch(exchange.environ):
            message = "Only a page of this gateway can end its session."
            raise GatewayError(403, "origin_not_allowed", message)
        cookie, address = sign_in.sign_out()
        body = orjson.dumps({"provider": address or None})
        return Response(200, [*_JSON, ("set-cookie", cookie)], body)

    return handle


def _sign_in(services: Services) -> SignIn:
    if services.sign_in is None:  # a trial has pages without services
        raise GatewayError(503, "sign_in_unavailable", "This process signs nobody in.")
    return services.sign_in


def _redirect(address: str, *cookies: str) -> Response:
    set_cookies = [("set-cookie", cookie) for cookie in cookies]
    headers = [("location", address), ("content-type", "text/plain"), *set_cookies, *_NO_STORE]
    return Response(303, headers)


def _failure(sign_in: SignIn, status: int, reason: str) -> Response:
    """A page that says why somebody is not signed in."""
    headers = [("content-type", "text/html; charset=utf-8"), *_NO_STORE]
    if status == 503:
        headers.append(("retry-after", str(_RETRY_SECONDS)))
    html = _HTML.read_text("utf-8").replace("{base}", escape(sign_in.base_url))
    return Response(status, headers, html.replace("{reason}", escape(reason)).encode())
