"""The headers of a request as transforms edit them for an upstream."""

from __future__ import annotations

import copy
from collections.abc import Collection

from engine.exchange.environ_headers import environ_key
from engine.exchange.exchange import Exchange


def with_edited_headers(exchange: Exchange, names: Collection[str]) -> Exchange:
    """The request with these headers after the edits of transforms; the same object if there are
    none. Names are in lower case. Raises GatewayError 400 for a value that is not valid in a
    header."""
    edits = exchange.edits
    if edits is None or edits.headers is None:
        return exchange
    environ = dict(exchange.environ)
    values = ((name, environ.pop(environ_key(name), None)) for name in names)
    fields = [(name, value) for name, value in values if value is not None]
    for name, value in edits.headers(fields):
        if name in names:
            environ[environ_key(name)] = value
    edited = copy.copy(exchange)
    edited.environ = environ
    return edited
