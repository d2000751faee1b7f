"""`policies:` and `routes:` of gateway.yaml, with `respond`, a response that the gateway gives
itself."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from engine.config import keys
from engine.config.keys import default
from engine.config.models import Choice, TargetConfig, TargetReader, read_choice
from engine.config.tokens import required_regions
from engine.source.problem import Path
from engine.values.trees import Json, Section


class Respond(Struct, frozen=True):
    """A response: its `status`, its `headers` with names in lower case, and its `body`: a text, or
    a value that is sent as JSON. Without a body (`has_body`), an error has the form of the
    operation's dialect, and any other response is empty."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: Any = None
    has_body: bool = False

    def __hash__(self) -> int:
        return hash((self.status, self.headers))  # a body may be a mapping


def read_respond(section: Section) -> Respond:
    """The value of `respond`."""
    headers = section.get("headers", {}).items()
    return Respond(
        section["status"],
        tuple((name.lower(), str(value)) for name, value in headers),
        section.get("body"),
        "body" in section,
    )


class Policy(Struct, frozen=True):
    """A policy by name, with its options as written; `group` names its operations, "" is all."""

    name: str
    options: Any
    at: Path
    group: str = ""


class WebSocket(Struct, frozen=True):
    """The limits of a WebSocket session. A side that sends no frame for `ping` seconds gets a ping;
    `max_pings` is the number of pings that a side may send per minute."""

    max_message: int = default("routes.*.websocket.max_message")
    idle: float = default("routes.*.websocket.idle")
    session: float = default("routes.*.websocket.session")
    ping: float = default("routes.*.websocket.ping")
    compression: bool = default("routes.*.websocket.compression")
    max_pings: int = default("routes.*.websocket.max_pings")


class Hedge(Struct, frozen=True):
    """A second attempt while a slow first one goes on: `after` a duration, or a percentile of the
    target's latencies such as `p95`. `idempotent`: requests of any method may be sent twice."""

    after: str = default("routes.*.hedge.after")
    idempotent: bool = default("routes.*.hedge.idempotent")


class RouteConfig(Struct, frozen=True):
    """Operations as written, and where they go: by model, to fixed targets, or to an answer of the
    gateway. `hosts` are names of hosts and wildcards in lower case, empty for every host.
    `regions` are those that an upstream must be in, None for any."""

    operations: tuple[tuple[str, Path], ...]
    model: str = field(name="model.from")
    default_model: str = field(name="model.default")
    model_copies: tuple[str, ...] = field(name="model.also")
    to: tuple[TargetConfig, ...]
    answer: str
    allows_anonymous: bool = field(name="auth")
    validate: str
    policies: tuple[Policy, ...]
    at: Path
    choose: Choice = field(default_factory=Choice)
    unknown_fields: str = default("routes.*.unknown_fields")
    readonly: str = default("routes.*.readonly")
    validate_responses: str = default("routes.*.validate_responses")
    websocket: WebSocket | None = None
    priority: str = default("routes.*.priority")
    hedge: Hedge | None = None
    hosts: tuple[str, ...] = ()
    respond: Respond | None = None
    regions: tuple[str, ...] | None = field(default=None, name="require.region")


def read_policies(entries: list[Json], at: Path, group: str = "") -> tuple[Policy, ...]:
    """The entries of a list `policies`; `group` names their operations, "" is all."""
    return tuple(
        Policy(name, options, (*at, index, name), group)
        for index, entry in enumerate(entries)
        if entry
        for name, options in entry.items()
    )


def read_route(section: Json, at: Path, targets: TargetReader) -> RouteConfig:
    """An entry of `routes:`."""
    values = keys.fill(section, "routes.*")
    operations: list[tuple[str, Path]] = []
    if "operation" in values:
        operations.append((values["operation"], (*at, "operation")))
    names = values.get("operations", [])
    if isinstance(names, str):
        operations.append((names, (*at, "operations")))
    else:
        operations += [(name, (*at, "operations", i)) for i, name in enumerate(names)]
    expression = values.get("model", "")
    return RouteConfig(
        operations=tuple(operations),
        model=expression if isinstance(expression, str) else expression["from"],
        default_model="" if isinstance(expression, str) else expression.get("default", ""),
        model_copies=() if isinstance(expression, str) else tuple(expression.get("also", ())),
        to=targets.read(values.get("to", []), at),
        choose=read_choice(values, at),
        answer=values.get("answer", ""),
        allows_anonymous=values.get("auth") == "none",
        validate=values["validate"],
        policies=read_policies(
            values.get("policies", []), (*at, "policies"), " ".join(name for name, _ in operations)
        ),
        at=at,
        unknown_fields=values["unknown_fields"],
        readonly=values["readonly"],
        validate_responses=values["validate_responses"],
        websocket=WebSocket(**values["websocket"]) if "websocket" in values else None,
        priority=values["priority"],
        hedge=Hedge(**values["hedge"]) if "hedge" in values else None,
        hosts=tuple(host.lower() for host in values.get("hosts", ())),
        respond=read_respond(values["respond"]) if "respond" in values else None,
        regions=required_regions(values),
    )
