"""Requests that vendors' own clients send, recorded from the clients themselves.


`client_requests.json` has one request per line. `path` excludes the vendor's version prefix
(`/v1`).
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources

from msgspec import Struct

from engine.dialects import default
from engine.exchange.body import Body
from engine.exchange.exchange import Exchange
from engine.spec.operation import Operation
from engine.spec.request_bodies import check
from engine.values.errors import GatewayError


class ClientRequest(Struct, frozen=True):
    """A POST that a `client` (name and version) sends for `call`, and that its vendor accepts."""

    client: str
    call: str
    dialect: str
    path: str
    type: str
    body: str

    def refusal(self, operation: Operation) -> GatewayError | None:
        """The refusal of the body by `operation`, or None."""
        environ = {"CONTENT_TYPE": self.type}
        exchange = Exchange("POST", self.path, "", environ, default())
        exchange.body = Body(self.body.encode())
        try:
            rule = operation.bodies.parse(exchange)
            if rule is not None:
                check(rule, exchange.content.value)
        except GatewayError as error:
            return error
        return None


@cache
def client_requests() -> tuple[ClientRequest, ...]:
    """All recorded requests."""
    text = (resources.files("engine.offline") / "client_requests.json").read_text(encoding="utf-8")
    return tuple(ClientRequest(**entry) for entry in json.loads(text))
