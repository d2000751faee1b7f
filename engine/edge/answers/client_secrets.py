"""`answer: client_secrets`: a short-lived secret for realtime sessions, made from a token.

The secret is for one model and the settings of one session. It opens sessions as long as its token
is valid, also on other machines with the same `client_secrets.keys`; nothing is stored.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import floor

import orjson

from engine.dialects.interface.client_secrets import ClientSecretFormat, IssuedSecret
from engine.edge.answers.own_answer import AnswerSources, OwnAnswer, SessionRoute
from engine.exchange.client_secret import MAX_SECRET, ClientSecret, TooLarge
from engine.exchange.exchange import MISSING, Exchange, Handler, Response
from engine.exchange.stage_services import ClientSecretKeys
from engine.values.caller import Caller
from engine.values.errors import GatewayError

_HEADERS = [("content-type", "application/json"), ("cache-control", "no-store")]
_MAX_SHOWN = 200
_DIGEST = re.compile("[0-9a-f]{64}")


def handler(sources: AnswerSources) -> Handler:
    """A handler that issues client secrets for the routes of its dialect that accept them."""
    form, keys = sources.dialects[-1].client_secrets, sources.client_secrets

    def handle(exchange: Exchange) -> Response:
        caller = exchange.caller
        if form is None or keys is None:
            raise _not_configured()
        if caller is None or not exchange.token:
            message = "A client secret is made from a token: send one."
            raise GatewayError(401, "invalid_api_key", message)
        if _DIGEST.fullmatch(exchange.token) is None:
            message = (
                "A client secret is made from a token of this gateway; this one is of another "
            )
            message += "issuer, and could not be checked when the secret is used."
            raise GatewayError(403, "token_not_allowed", message)
        secret = _issue(form, keys, caller, exchange, sources)
        return Response(200, list(_HEADERS), orjson.dumps(form.write(secret)))

    return handle


def _issue(
    form: ClientSecretFormat,
    keys: ClientSecretKeys,
    caller: Caller,
    exchange: Exchange,
    sources: AnswerSources,
) -> IssuedSecret:
    """The secret that a request asks for. Raises GatewayError 400, 403 or 404."""
    body = exchange.content.value
    if body is MISSING:
        body = {}
    if not isinstance(body, dict):
        message = "Invalid type for the request body: expected an object."
        raise GatewayError(400, "invalid_type", message)
    request = form.read(body, sources.clock())
    routes = _routes(sources.session_routes, caller)
    model = request.model
    if model or form.needs_model:
        model = _model(model, routes, caller, sources)
    expires = floor(sources.clock()) + request.seconds
    if caller.expires is not None:
        expires = min(expires, floor(caller.expires))
    try:
        value = keys.seal(ClientSecret(exchange.token, float(expires), model, request.session))
    except TooLarge as error:
        message = f"The secret would have {error} characters, with at most {MAX_SECRET}: "
        message += "shorten 'instructions' and 'tools', or send them in a session.update."
        raise GatewayError(400, "session_too_large", message, param="session") from error
    keys.issued += 1
    return IssuedSecret(value, expires, model, request.session, exchange.request_id)


def _routes(routes: Sequence[SessionRoute], caller: Caller) -> Sequence[SessionRoute]:
    """Those of the routes that the caller may use."""
    if not routes:
        raise _not_configured()
    callable_routes = [route for route in routes if caller.may_call(route.operation)]
    if not callable_routes:
        message = f"This token may not call '{routes[0].operation}', so no secret of it would."
        raise GatewayError(403, "operation_not_allowed", message)
    return callable_routes


def _model(
    name: str, routes: Sequence[SessionRoute], caller: Caller, sources: AnswerSources
) -> str:
    """The model of the session, which has to be one of a route."""
    name = name or next((route.default_model for route in routes if route.default_model), "")
    if not name:
        message = "Missing required parameter: 'session.model'. It names the model to use."
        raise GatewayError(400, "missing_required_parameter", message, param="session.model")
    excerpt = name[:_MAX_SHOWN]
    if not caller.may_use(name):
        message = f"This token may not use the model '{excerpt}'."
        raise GatewayError(403, "model_not_allowed", message, param="session.model")
    served = {operation.id for operation in sources.visible_models.operations_of(name) or ()}
    if served.isdisjoint(route.operation for route in routes):
        message = f"The model '{excerpt}' does not exist here, or has no realtime sessions."
        raise GatewayError(404, "model_not_found", message, param="session.model")
    return name


def _not_configured() -> GatewayError:
    message = "This gateway issues no client secrets: its operator has set no client_secrets.keys."
    return GatewayError(501, "not_implemented", message, retry=False)


ANSWER = OwnAnswer(
    name="client_secrets",
    summary="with a client secret for realtime sessions, sealed with `client_secrets.keys`",
    handler=handler,
)
