"""Where a request names its model, and repeats the name."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from engine.exchange.exchange import Exchange
from engine.spec.expression import Expression


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
