"""The edits of transforms as text: each with its place and without its value, which may be a
secret.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.config.config import Config
from engine.config.transforms import TransformConfig
from engine.exchange.exchange import Exchange
from engine.plan.route import Route
from engine.policies import transform_of
from engine.source.problem import Path
from engine.spec.document.node import Node
from engine.transforms.places import parse_place, steps_of
from engine.transforms.transform import body_schemas, has_place


def edits_of(transform: TransformConfig) -> Iterator[tuple[Path, str]]:
    """The place of each edit, and the edit: `request.header.set x-team`."""
    for at, edit, name in _named_edits(transform):
        others = unless_of(transform, name) if edit == "request.body.default" else []
        unless = f" unless {' or '.join(others)}" if others else ""
        yield at, f"{edit} {name}{unless}".rstrip()


def unless_of(transform: TransformConfig, name: str) -> list[str]:
    """The places in the request's body that prevent the default at a place (`unless`)."""
    unless = transform.options.get("request", {}).get("body", {}).get("unless", {})
    steps = steps_of(name)
    return [other for text, others in unless.items() if steps_of(text) == steps for other in others]


def _named_edits(transform: TransformConfig) -> Iterator[tuple[Path, str, str]]:
    """The place of each edit, its kind, and the name or place that it edits, "" for `path`."""
    for side, parts in transform.options.items():
        for part, kinds in parts.items():
            at = (*transform.at, side, part)
            if part == "path":
                yield at, f"{side}.path", ""
                continue
            for kind, names in kinds.items():
                if kind == "unless":
                    continue
                for index, name in enumerate(names):
                    step = index if isinstance(names, list) else name
                    yield (*at, kind, step), f"{side}.{part}.{kind}", name


def edits_of_caller(
    route: Route, entry: str, config: Config, operation: Node
) -> Iterator[tuple[Path, str]]:
    """The edits on the caller's side of a request for an `entry` under `models` ("" for none);
    without those whose place the operation does not have."""
    schemas = body_schemas(operation)
    transforms = [edit for policy in route.policies for edit in transform_of(policy)]
    transforms += config.models[entry].transform if entry in config.models else ()
    for transform in transforms:
        for (at, edit), (_, kind, place) in zip(
            edits_of(transform), _named_edits(transform), strict=True
        ):
            in_body = kind.startswith("request.body.")
            if not in_body or not schemas or has_place(schemas, parse_place(place)):
                yield at, edit


def edits_of_upstreams(
    route: Route, exchange: Exchange, upstreams: list[str], config: Config
) -> Iterator[tuple[Path, str]]:
    """The edits on the upstream's side of requests that were sent to these upstreams."""
    model = config.models.get(exchange.record.served_entry)
    targets = route.to if model is None else model.targets
    for name in dict.fromkeys(upstreams):
        transforms = list(config.upstreams[name].transform)
        transforms += [t for target in targets if target.upstream == name for t in target.transform]
        for transform in transforms:
            yield from edits_of(transform)
