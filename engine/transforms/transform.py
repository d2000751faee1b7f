"""A `transform` of gateway.yaml, compiled: the edits of a request and those of its response.

Those of policies and models work on the caller's side, before a target is chosen; those of
upstreams and targets on the upstream's side, on the request of each attempt.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec import Struct
from msgspec.structs import replace

from engine.source.problem import Path
from engine.transforms.body_edits import BodyEdits
from engine.transforms.header_edits import HeaderEdits
from engine.transforms.path_edit import PathEdit
from engine.transforms.places import JsonName
from engine.transforms.query_edits import QueryEdits


class RequestEdits(Struct, frozen=True):
    """The edits of a request. Those of the path are on the upstream's side only."""

    header: HeaderEdits = HeaderEdits()
    query: QueryEdits = QueryEdits()
    path: PathEdit | None = None
    body: BodyEdits = BodyEdits()

    def __bool__(self) -> bool:
        return bool(self.header or self.query or self.path is not None or self.body)


class ResponseEdits(Struct, frozen=True):
    """The edits of a response."""

    header: HeaderEdits = HeaderEdits()
    body: BodyEdits = BodyEdits()

    def __bool__(self) -> bool:
        return bool(self.header or self.body)


@dataclass(frozen=True, slots=True)
class Transform:
    """A compiled transform; `at` is its place in the config, for messages."""

    at: Path = field(compare=False)
    request: RequestEdits = field(default_factory=RequestEdits)
    response: ResponseEdits = field(default_factory=ResponseEdits)

    def with_names(self, json_name: JsonName) -> Transform:
        """The transform for an API whose members may have two spellings."""
        if not (self.request.body or self.response.body):
            return self
        return Transform(
            self.at,
            request=replace(self.request, body=self.request.body.with_names(json_name)),
            response=replace(self.response, body=self.response.body.with_names(json_name)),
        )

    @property
    def place(self) -> str:
        """Its place as a text: `upstreams.main.transform`."""
        return ".".join(map(str, self.at))
