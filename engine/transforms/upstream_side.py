"""Transforms on the upstream's side: edits of the request of one attempt, before its credential."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from engine.exchange.interfaces import Headers
from engine.transforms.template import TemplateValues
from engine.transforms.transform import Transform


class OutgoingRequest(Protocol):
    """What is edited of a request to an upstream (`engine.upstream.client.request`)."""

    path: str
    query: str
    headers: Headers


class UpstreamEdits:
    """The transforms of a target in their order: its provider's, its upstream's and its own."""

    def __init__(self, transforms: Sequence[Transform] = ()) -> None:
        self.transforms = tuple(each for each in transforms if each.request)

    def __bool__(self) -> bool:
        return bool(self.transforms)

    def apply(self, request: OutgoingRequest, base_path: str, values: TemplateValues) -> None:
        """Edit a request whose path is below `base_path`; `values` get that path. Raises ValueError
        for a path that no upstream should see, GatewayError 400 for a request whose values cannot
        stand where a template puts them."""
        for transform in self.transforms:
            edits = transform.request
            values = replace(values, target_path=request.path[len(base_path) :])
            if edits.header:
                request.headers = edits.header.apply(request.headers, values)
            if edits.query:
                request.query = edits.query.apply(request.query, values)
            if edits.path is not None:
                stream = False
                request.path = base_path + edits.path.apply(values, stream=stream)
