"""Client secrets in requests: the caller that one stands for, and what it binds a session to."""

from __future__ import annotations

from collections.abc import Sequence

from engine.dialects.interface.client_secrets import ClientSecretFormat
from engine.exchange.client_secret import PREFIX, ClientSecret
from engine.exchange.exchange import MISSING, Exchange, Handler, Response, Stage
from engine.exchange.interfaces import Headers
from engine.exchange.services import ClientSecretKeys, Services
from engine.spec.expression import Expression, lenient_name
from engine.spec.query_string import Query
from engine.values.caller import Caller
from engine.values.errors import GatewayError

_EXPIRED = "The client secret has expired. Ask the application that gave it for a new one."
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
    if not any(secret.startswith(PREFIX) for secret in secrets):
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
            _bind_model(secret, model, exchange)
            _bind_parameters(secret, form, exchange)
        return following(exchange)

    return stage


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
