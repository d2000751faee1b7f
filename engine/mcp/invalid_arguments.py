"""Arguments that are no call of a tool, with their place."""

from __future__ import annotations


class InvalidArguments(ValueError):
    """Arguments that a tool refuses: the `place` of the mistake (`body.items[0].id`), "" for all of
    them, and a `message` for the model, a sentence."""

    def __init__(self, place: str, message: str) -> None:
        super().__init__(f"{place}: {message}" if place else message)
        self.place = place
        self.message = message
