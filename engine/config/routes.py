"""`specs:`, `models:`, `policies:` and `routes:` of gateway.yaml."""

from __future__ import annotations

from typing import Any

from engine.config import keys, model
from engine.config.keys import default
from engine.source.problem import Path


def spec(name: str, section: dict[str, Any]) -> model.Spec:
    """An entry of `specs:`."""
    values = keys.fill(section, "specs.*")
    mount = values.get("mount", [])
    return model.Spec(
        name=name,
        document=values["document"],
        dialect=values["dialect"],
        mount=(mount,) if isinstance(mount, str) else tuple(mount),
        token=tuple(values.get("token", ())),
        at=("specs", name),
        overlays=tuple(values.get("overlays", ())),
    )


def _targets(listed: list[dict[str, Any]], at: Path) -> tuple[model.Target, ...]:
    return tuple(
        model.Target(
            upstream=target["upstream"],
            model=target.get("model", ""),
            weight=float(target.get("weight", default("models.*.to.*.weight"))),
            at=(*at, "to", index),
        )
        for index, target in enumerate(listed)
    )


def model_entry(name: str, section: dict[str, Any]) -> model.Model:
    """An entry of `models:`."""
    values = keys.fill(section, "models.*")
    at: Path = ("models", name)
    return model.Model(
        name=name,
        to=_targets(values["to"], at),
        fallback=tuple(values.get("fallback", ())),
        title=values.get("title", name),
        owner=values["owner"],
        created=values["created"],
        at=at,
        operations=tuple(values.get("operations", ())),
    )


def policies(listed: list[dict[str, Any]], at: Path, group: str = "") -> tuple[model.Policy, ...]:
    """The entries of a list `policies`; `group` names the operations they are for, "" all."""
    return tuple(
        model.Policy(name, options, (*at, index, name), group)
        for index, entry in enumerate(listed)
        if entry
        for name, options in entry.items()
    )


def route(section: dict[str, Any], at: Path) -> model.Route:
    """An entry of `routes:`."""
    values = keys.fill(section, "routes.*")
    operations: list[tuple[str, Path]] = []
    if "operation" in values:
        operations.append((values["operation"], (*at, "operation")))
    listed = values.get("operations", [])
    if isinstance(listed, str):
        operations.append((listed, (*at, "operations")))
    else:
        operations += [(name, (*at, "operations", i)) for i, name in enumerate(listed)]
    expression = values.get("model", "")
    return model.Route(
        operations=tuple(operations),
        model=expression if isinstance(expression, str) else expression["from"],
        default_model="" if isinstance(expression, str) else expression.get("default", ""),
        also=() if isinstance(expression, str) else tuple(expression.get("also", ())),
        to=_targets(values.get("to", []), at),
        answer=values.get("answer", ""),
        public=values.get("auth") == "none",
        validate=values["validate"],
        policies=policies(
            values.get("policies", []), (*at, "policies"), " ".join(name for name, _ in operations)
        ),
        at=at,
        unknown_fields=values["unknown_fields"],
        validate_responses=values["validate_responses"],
        websocket=model.WebSocket(**values["websocket"]) if "websocket" in values else None,
    )
