"""The stages that make the edits of transforms, each at its place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.app.routes.worker_parts import Parts
from engine.config.transforms import TransformConfig
from engine.exchange.exchange import Stage
from engine.plan.route import Route
from engine.stages.transform import edit, transform
from engine.transforms.compile import compile_all
from engine.transforms.transform import Transform, for_operation


def edit_stage(configs: Sequence[TransformConfig], route: Route, parts: Parts) -> Stage:
    """Makes edits of requests before a policy judges them."""
    transforms, operation = _for_route(configs, route, parts), route.operation
    locations = route.model_locations
    return parts.shared.once_unhashable(
        "edit",
        (locations, operation.bodies),
        transforms,
        lambda: edit(transforms, operation, locations),
    )


def transform_stage(route: Route, parts: Parts, skip: int) -> list[Stage]:
    """Makes the edits of policies and models, if the config has any. The first `skip` transforms of
    policies have edited the request before."""
    models = parts.models_with_transform if route.model is not None else ()
    if not (models or route.guards.transforms):
        return []
    of_models = {model.name: _for_route(model.transform, route, parts) for model in models}
    of_route = _for_route(route.guards.transforms, route, parts)
    locations = route.model_locations
    strict, operation = route.validate == "strict", route.operation
    places = tuple(config.at for config in route.guards.transforms)  # the log names them
    return [
        parts.shared.once_unhashable(
            "transform",
            (strict, locations, operation.parameters, operation.bodies, places, skip),
            (of_route, of_models),
            lambda: transform(
                of_route, of_models, operation, strict=strict, locations=locations, skip=skip
            ),
        )
    ]


def _for_route(configs: Iterable[TransformConfig], route: Route, parts: Parts) -> list[Transform]:
    """The transforms with the edits whose place the operation has."""
    node = parts.plan.specifications[route.operation.spec].node(route.operation)
    return [for_operation(_compiled(config, parts), node) for config in configs]


def _compiled(config: TransformConfig, parts: Parts) -> Transform:
    """A transform of the config, compiled once: its place is that of no other."""
    (compiled,) = parts.shared.once(
        "compiled", config.at, lambda: compile_all([config], upstream=False)
    )
    return compiled
