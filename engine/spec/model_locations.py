"""Where a request names its model, and repeats the name; and the name in a request whose body has
not been parsed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct

from engine.exchange.environ_headers import environ_key
from engine.exchange.exchange import Exchange
from engine.spec.expression import Expression
from engine.values.media_types import is_json


class ModelLocations(Struct, frozen=True):
    """Where the requests of a route name their `model`, and where a body may repeat the name, there
    with or without the `prefix`; so may the body name the model itself."""

    model: Expression
    copies: Sequence[Expression] = ()
    prefix: str = ""

    def find(self, exchange: Exchange) -> None:
        """Find the locations again after an edit of the body."""
        exchange.model.span = self.model.check(exchange)[1]
        if self.copies:
            self.find_copies(exchange)

    def find_copies(self, exchange: Exchange) -> None:
        """Find the copies of the name. Raises GatewayError 400 for another name there."""
        name = exchange.model.name
        exchange.model.copies = [
            span for copy in self.copies for span in copy.repeats(exchange, name, self.prefix)
        ]


_CONTENT_TYPE = environ_key("content-type")


def early_model_name(expression: Expression, exchange: Exchange) -> str:
    """The text at the location of the model; "" if there is none, or only the parsed body can tell.

    In a body it must be a top-level member of JSON. The text is skimmed, which takes a fraction of
    the time of parsing it; of a repeated member it is the last. Raises GatewayError 400 for a
    repeated query parameter.
    """
    if expression.location != "body":
        value = expression.read(exchange)
    elif expression.member is None or not is_json(exchange.header(_CONTENT_TYPE) or ""):
        value = ""
    else:
        value = _skimmed(expression.member, exchange)
    return value if isinstance(value, str) else ""


def _skimmed(member: str, exchange: Exchange) -> Any:
    with memoryview(exchange.body.buffer) as view:
        try:
            return _decoder(member).decode(view).name
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            # the parser will refuse it
            return ""


@cache
def _decoder(member: str) -> msgspec.json.Decoder[Any]:
    """Reads one text member of an object, and skips all others."""
    return msgspec.json.Decoder(
        msgspec.defstruct("Named", [("name", str, "")], rename={"name": member})
    )
