"""The plan as values: a Route for each operation that is served, the Plan with all Routes, and the
PlanResult, which also has the problems.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from engine.config.model_operation import ModelOperation
from engine.config.models import Choice, TargetConfig
from engine.config.routes import Hedge, Policy, Respond, WebSocket
from engine.dialects import Dialect
from engine.dialects.interface.client_secrets import ClientSecretFormat
from engine.edge.answers.own_answer import OwnAnswer
from engine.edge.host_names import ANY_HOST, wider_patterns
from engine.objects.facts import ObjectFacts
from engine.policies import Guards
from engine.source.problem import Path
from engine.spec.bodies.response_schemas import ResponseValidators
from engine.spec.expression import Expression
from engine.spec.model_locations import ModelLocations
from engine.spec.operation import Operation
from engine.spec.security import Carrier
from engine.translations import counted_language, language_of
from engine.values.usage import Takes

HOSTS = " at "
"""What is between the operation and the hosts in the name of a route."""


class Route(msgspec.Struct, frozen=True):
    """An operation, its targets and its guards; every name in it is resolved.

    `model_copies` are the locations that may repeat the model's name. `allows_anonymous`: callers
    need no token. `takes` are the request fields that quotas depend on. `guards` are the compiled
    `policies`. `dialects` are the dialects of callers of this path, the operation's own last.
    `slash_variables` are the path variables that may have slashes. `websocket` has the limits of
    sessions, if the operation is a WebSocket. `chosen_by_body`: a value of the body decides which
    target is chosen; `has_choices`: one may choose another model at an upstream (`caller_choices`).
    `objects` says where ids of objects are, None if none are sealed there.
    `response_validators` is None unless the route reports on responses. `at` is the path of the
    operation's name in the config. `hosts` are those for which it serves the operation, empty for
    every host without another route of it. `respond` is the response to every request, None unless
    the config says one. `regions` are those that an upstream must be in, None for any.
    """

    operation: Operation
    dialects: tuple[Dialect, ...]
    carriers: tuple[Carrier, ...]
    model: Expression | None
    default_model: str
    model_copies: tuple[Expression, ...]
    to: tuple[TargetConfig, ...]
    answer: OwnAnswer | None
    allows_anonymous: bool
    validate: str
    policies: tuple[Policy, ...]
    guards: Guards
    slash_variables: tuple[str, ...]
    takes: Takes
    websocket: WebSocket | None
    unknown_fields: str = "pass"
    readonly: str = "accept"
    response_validators: ResponseValidators | None = None
    at: Path = ()
    choose: Choice = msgspec.field(default_factory=Choice)
    priority: str = "normal"
    hedge: Hedge | None = None
    chosen_by_body: bool = False
    has_choices: bool = False
    objects: ObjectFacts | None = None
    hosts: tuple[str, ...] = ()
    respond: Respond | None = None
    regions: tuple[str, ...] | None = None

    @property
    def name(self) -> str:
        """The id of the operation, with the hosts of the route if it has some: an operation has one
        route for each host."""
        name = self.operation.id
        return f"{name}{HOSTS}{', '.join(self.hosts)}" if self.hosts else name

    @property
    def client_secrets(self) -> ClientSecretFormat | None:
        """How the dialect writes the client secrets that open sessions of this route, None if none
        do."""
        accepts = self.operation.client_secrets and self.model is not None
        return self.dialects[-1].client_secrets if accepts else None

    @property
    def by_model(self) -> ModelOperation:
        """The operation as a value for `ModelOperations`."""
        operation, dialect = self.operation, self.dialects[-1].name
        language = language_of(dialect, operation.path)
        name = language.name if language is not None and not operation.websocket else ""
        counted = counted_language(dialect, operation.path)
        counts = "" if counted is None else counted.name
        task = self.dialects[-1].task(operation.path)
        return ModelOperation(operation.id, dialect, operation.path, name, counts, task)

    @property
    def model_locations(self) -> ModelLocations | None:
        """Where requests name the model, on routes to models."""
        if self.model is None:
            return None
        return ModelLocations(self.model, self.model_copies, self.dialects[-1].model_prefix)

    @property
    def needs_body(self) -> bool:
        """Whether a stage needs the parsed body: it names the model, or a policy or the choice of a
        target depends on it."""
        names_model = self.model is not None and (
            self.model.location == "body" or bool(self.model_copies)
        )
        reads_body = self.guards.reads_body or self.chosen_by_body or self.has_choices
        names_objects = self.objects is not None and self.objects.needs_body
        return names_model or reads_body or names_objects

    @property
    def destination(self) -> str:
        """The destination of requests, for people."""
        if self.answer is not None:
            return f"by the gateway ({self.answer.name})"
        if self.respond is not None:
            return f"by the gateway ({self.respond.status})"
        return "to fixed targets" if self.to else "by model"

    @property
    def templates(self) -> list[tuple[str, str]]:
        """Each full path template with its mount prefix."""
        return self.operation.templates


def by_operation(routes: Iterable[Route]) -> dict[str, Route]:
    """A route of each operation, by its id: the one without hosts, else the first."""
    chosen: dict[str, Route] = {}
    for route in sorted(routes, key=lambda route: bool(route.hosts)):
        chosen.setdefault(route.operation.id, route)
    return chosen


def routes_at(routes: Sequence[Route], pattern: str) -> list[Route]:
    """The routes of a pattern of hosts, one for each operation: those that name the pattern come
    before those of a wildcard that matches it, and those without hosts last."""
    chosen: dict[str, Route] = {}
    for each in wider_patterns(pattern):
        for route in routes:
            if each in (route.hosts or (ANY_HOST,)):
                chosen.setdefault(route.operation.id, route)
    return [*chosen.values()]
