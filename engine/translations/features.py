"""The features of a language, each with a request that uses it.

Translating these requests for a target shows which features it lacks, for `check` and the manual.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec


class Feature(NamedTuple):
    """A field of requests, or a kind of value in one, by its `name`. `members` replace members of
    the minimal request to make one that uses the feature."""

    group: str
    name: str
    members: Mapping[str, Any]


def each_alone(group: str, **members: Any) -> list[Feature]:
    """A feature for each of these members, called like it."""
    return [Feature(group, name, {name: value}) for name, value in members.items()]


class Features(NamedTuple):
    """The features of a language, and the members of the minimal request (`least`), which uses
    none.
    """

    least: Mapping[str, Any]
    features: Sequence[Feature] = ()

    def request(self, feature: Feature, model: str) -> bytes:
        """The body of a request that uses a feature."""
        return msgspec.json.encode({"model": model, **self.least, **feature.members})

    def fields(self) -> Iterator[str]:
        """The fields of all these requests, without indexes: `messages.content.file`."""
        yield from _fields(self.least, "")
        for feature in self.features:
            yield from _fields(feature.members, "")


def _fields(value: Any, place: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, below in value.items():
            field = f"{place}.{name}" if place else name
            yield field
            yield from _fields(below, field)
    elif isinstance(value, list):
        for entry in value:
            yield from _fields(entry, place)
