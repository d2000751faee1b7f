"""The list of models, which the gateway answers itself, and its pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from engine.values.errors import GatewayError

MAX_PAGE = 1000
"""The most models of a page."""


class ModelCard(Struct, frozen=True):
    """One model of the list. `created` is in Unix seconds; `methods` are the custom methods
    (`generateContent`) at the ends of its operations' paths. `context` and `output` are its largest
    numbers of input and output tokens, None if unknown."""

    name: str
    title: str
    owner: str
    created: int
    methods: tuple[str, ...] = ()
    context: int | None = None
    output: int | None = None


class ModelList:
    """Models in the order of the list: their names, and for each the JSON value that
    `Dialect.model` returns (rendered or not)."""

    def __init__(self, names: Sequence[str], documents: Sequence[object]) -> None:
        self.names = names
        self.documents = documents

    def __len__(self) -> int:
        return len(self.names)

    def index(self, name: str | None) -> int | None:
        """The index of a model; None for one that is not in the list."""
        return None if name is None else self._indexes.get(name)

    @cached_property
    def _indexes(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.names)}


def page_size(parameters: Mapping[str, str], name: str, default: int) -> int:
    """A page size from the query: a whole number from 1 to MAX_PAGE, else GatewayError 400."""
    text = parameters.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 9 and 1 <= int(text) <= MAX_PAGE):
        raise GatewayError(
            400,
            "invalid_value",
            f"'{name}' must be a whole number from 1 to {MAX_PAGE}.",
            param=name,
        )
    return int(text)
