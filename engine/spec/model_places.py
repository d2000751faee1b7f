"""Where a request names its model, and repeats the name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.exchange.exchange import Exchange
from engine.spec.expression import Expression


@dataclass(frozen=True, slots=True)
class ModelPlaces:
    """The place of the model's name in requests of a route, and the places that repeat it, there
    with or without the `prefix`."""

    model: Expression
    also: Sequence[Expression] = ()
    prefix: str = ""

    def find(self, exchange: Exchange) -> None:
        """Find the places again after an edit of the body."""
        exchange.model.span = self.model.check(exchange)[1]
        if self.also:
            self.find_copies(exchange)

    def find_copies(self, exchange: Exchange) -> None:
        """Find the places that repeat the name. Raises GatewayError 400 for another name there."""
        name = exchange.model.name
        exchange.model.copies = [
            span for copy in self.also for span in copy.repeats(exchange, name, self.prefix)
        ]
