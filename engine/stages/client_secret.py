"""Client secrets in requests: the caller that one stands for, and what it binds a session to."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import orjson

from engine.dialects.interface.client_secrets import NAME, ClientSecretFormat
from engine.exchange.client_secret import PREFIX, ClientSecret
from engine.exchange.exchange import MISSING, Exchange, Handler, Response, Stage
from engine.exchange.member_protocols import Headers
from engine.exchange.request_body import Body, ReceivedBody
from engine.exchange.stage_services import ClientSecretKeys, Services
from engine.spec.expression import Expression, lenient_name
from engine.spec.parameters.query_string import Query
from engine.values.caller import Caller
from engine.values.counters import CountersAway, Limit
from engine.values.errors import GatewayError
from engine.values.event_json import json_object

_EXPIRED = "The client secret has expired. Ask the application that gave it for a new one."
_LATE = "The client secret opens no new sessions any more. Ask for a new one."
_USED = "The client secret was used as often as it may be. Ask for a new one."
_MAX_LIFETIME = 72_000.0
"""Seconds for which uses are counted: no secret with a number of uses is valid for longer."""
_INVALID = (
    "The client secret is not valid here: it opens realtime sessions only, unchanged, and as long "
    "as the token that it was made from is valid."
)


def caller_of_client_secret(
    secrets: Sequence[str],
    keys: ClientSecretKeys,
    challenge: Headers,
    exchange: Exchange,
    services: Services,
) -> Caller | None:
    """The caller of the token that one of a request's secrets was made from; None if none of them
    is a client secret of such a token. Sets the exchange's token and client secret. Raises
    GatewayError 401 for one that has expired."""
    for text in secrets:
        text = text.removeprefix(NAME)
        secret = keys.open(text) if text.startswith(PREFIX) else None
        caller = None if secret is None else services.tokens.get(secret.token)
        if secret is None or caller is None:
            continue
        now = services.clock()
        if now >= secret.expires or (caller.expires is not None and now >= caller.expires):
            keys.expired += 1
            raise GatewayError(401, "invalid_api_key", _EXPIRED, headers=challenge)
        keys.accepted += 1
        exchange.token, exchange.record.client_secret = secret.token, secret
        return caller
    return None


def invalid_client_secret(secrets: Sequence[str], services: Services) -> str:
    """The message of a refusal of such secrets, "" if none of them looks like a client secret."""
    if not any(secret.startswith((PREFIX, NAME)) for secret in secrets):
        return ""
    if services.client_secrets is not None:
        services.client_secrets.invalid += 1
    return _INVALID


def bind_session(model: Expression, form: ClientSecretFormat) -> Stage:
    """A stage that binds a session to its client secret: the request names the secret's `model`, or
    none, and its query has the parameters that the dialect requires of such a session. Raises
    GatewayError 403 for a request that asks for more."""

    def stage(exchange: Exchange, following: Handler) -> Response:
        if (secret := exchange.record.client_secret) is not None:
            _check_owner(secret, form)
            _bind_model(secret, model, exchange)
            _bind_parameters(secret, form, exchange)
        return following(exchange)

    return stage


def bind_first(form: ClientSecretFormat, services: Services) -> Stage:
    """A stage behind the first message of a session, which has its settings: with a client secret
    those of the secret, as often and as long as that says. The upstream gets a session of its
    credential. Raises GatewayError 401 and 403."""
    first = form.first
    assert first is not None

    def stage(exchange: Exchange, following: Handler) -> Response:
        secret = exchange.record.client_secret
        if secret is not None:
            _check_owner(secret, form)
            reader = exchange.body_reader
            message = first(secret.session, json_object(bytes(reader.receive().buffer)))
            if not form.resumes(message):
                _count_use(secret, exchange, services)
            reader = ReceivedBody(Body(orjson.dumps(message)), reader.max_size)
            exchange.body_reader = reader
        exchange.on_end.append(partial(_restore, exchange, exchange.path))  # the log has it
        exchange.path = form.path(exchange.path)
        return following(exchange)

    return stage


def _restore(exchange: Exchange, path: str) -> None:
    exchange.path = path


def _check_owner(secret: ClientSecret, form: ClientSecretFormat) -> None:
    """Raises GatewayError 403 for a secret of another API."""
    if not form.owns(secret.session):
        message = "This client secret is for sessions of another API."
        raise GatewayError(403, "session_not_allowed", message)


def _count_use(secret: ClientSecret, exchange: Exchange, services: Services) -> None:
    """Count a new session. Raises GatewayError 401 if there may be none any more, 503 if that
    cannot be said."""
    uses, counters = secret.session["uses"], services.counters
    if services.clock() >= secret.session["begin"]:
        raise GatewayError(401, "invalid_api_key", _LATE)
    if not uses or counters is None:
        return
    try:
        result = counters.take((Limit(f"client secret/{secret.id}", uses, _MAX_LIFETIME),), (1,))
    except CountersAway as error:
        message = "The uses of this client secret cannot be counted at the moment."
        raise GatewayError(503, "store_unavailable", message) from error
    if result.denied is not None:
        raise GatewayError(401, "invalid_api_key", _USED)


def _bind_model(secret: ClientSecret, model: Expression, exchange: Exchange) -> None:
    value, span = model.check(exchange)
    if value is MISSING or value == "":
        model.replace(exchange, span, secret.model)
        exchange.rewrite_query()
    elif value != secret.model:
        message = f"This client secret is for the model '{secret.model}' alone."
        raise GatewayError(403, "model_not_allowed", message, param=model.param)


def _bind_parameters(secret: ClientSecret, form: ClientSecretFormat, exchange: Exchange) -> None:
    for name, required in form.parameters(secret.session).items():
        query = Query.parse(exchange.query)
        values = [value for key, value in query.items() if lenient_name(key) == lenient_name(name)]
        if any(value != required for value in values):
            words = f"without '{name}'" if required is None else f"with '{name}={required}'"
            message = f"This client secret opens sessions {words} only."
            raise GatewayError(403, "session_not_allowed", message, param=name)
        if required is not None and not values:
            exchange.query = query.replace(name, required)
            exchange.rewrite_query()
