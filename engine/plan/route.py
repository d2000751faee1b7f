"""The plan as values: a Route for each operation that is served, all Routes as a Plan, and the
PlanResult that also holds the problems.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path as FilePath

from engine.config.config import Config
from engine.config.model_operations import ModelOperation, ModelOperations
from engine.config.models import Choice, TargetConfig
from engine.config.routes import Hedge, Policy, WebSocket
from engine.dialects import Dialect
from engine.policies import Guards
from engine.source.problem import Findings, Path, Problem
from engine.spec.expression import Expression
from engine.spec.operation import Operation
from engine.spec.response_schemas import ResponseValidators
from engine.spec.security import Carrier
from engine.spec.spec import Specification
from engine.translations import counted_language, counterparts, language_of, path_suffixes
from engine.values.usage import Takes


@dataclass(frozen=True, slots=True)
class Route:
    """An operation, its targets and its guards; every name in it is resolved.

    `takes` are the request fields that matter for quotas. `guards` are the compiled `policies`.
    `dialects` are those whose callers use the path, the operation's dialect last. `wide` are the
    path variables that may hold slashes, because they name a model. `websocket` holds the limits
    of its sessions, where the operation is a WebSocket. `chosen_by_body`: its targets, or those of
    a model, are chosen by a value of the body. `at` is the place of the operation's name
    in the config.
    """

    operation: Operation
    dialects: tuple[Dialect, ...]
    carriers: tuple[Carrier, ...]
    model: Expression | None
    default_model: str
    also: tuple[Expression, ...]
    to: tuple[TargetConfig, ...]
    answer: str
    public: bool
    validate: str
    policies: tuple[Policy, ...]
    guards: Guards
    wide: tuple[str, ...]
    takes: Takes
    websocket: WebSocket | None
    unknown_fields: str = "pass"
    answers: ResponseValidators | None = None
    at: Path = ()
    choose: Choice = field(default_factory=Choice)
    priority: str = "normal"
    hedge: Hedge | None = None
    chosen_by_body: bool = False

    @property
    def by_model(self) -> ModelOperation:
        """The operation, as `ModelOperations` compares it."""
        operation, dialect = self.operation, self.dialects[-1].name
        language = language_of(dialect, operation.path)
        name = language.name if language is not None and not operation.websocket else ""
        counted = counted_language(dialect, operation.path)
        counts = "" if counted is None else counted.name
        task = self.dialects[-1].task(operation.path)
        return ModelOperation(operation.id, dialect, operation.path, name, counts, task)

    @property
    def needs_body(self) -> bool:
        """Whether a step needs the parsed body: it names the model, or a policy or the choice of a
        target depends on it."""
        names_model = self.model is not None and (self.model.place == "body" or bool(self.also))
        return names_model or self.guards.reads_body or self.chosen_by_body

    @property
    def destination(self) -> str:
        """Where requests go, in words."""
        if self.answer:
            return f"answered here ({self.answer})"
        return "to fixed targets" if self.to else "by model"

    @property
    def templates(self) -> list[tuple[str, str]]:
        """The full path templates with the prefix each is mounted under."""
        return [(mount + self.operation.path, mount) for mount in self.operation.mounts]


@dataclass(frozen=True, slots=True)
class Plan:
    """All routes to serve. `specifications` are the documents, for pages that show them;
    `by_model` are the operations that are routed by model, including those of routes that were
    left out afterwards."""

    config: Config
    routes: tuple[Route, ...]
    specifications: Mapping[str, Specification] = field(default_factory=dict)
    by_model: tuple[ModelOperation, ...] = ()

    def free_sources(self) -> None:
        """Free the texts and positions of the files: a plan that is served has no problems."""
        self.config.source.free_positions()
        self.config.source.value = None
        for specification in self.specifications.values():
            for document in specification.library.documents:
                document.free_positions()

    def model_operations(self) -> ModelOperations:
        """Which operations each model has."""
        config = self.config
        return ModelOperations(
            config.models, config.upstreams, self.by_model, counterparts(), path_suffixes()
        )


@dataclass(slots=True)
class PlanResult:
    """A plan and the problems of its files; `plan` is None when there are errors. `files` are the
    files it was read from, with their SHA-256 (see `engine.source.files.record_reads`)."""

    plan: Plan | None = None
    findings: Findings = field(default_factory=Findings)
    specifications: dict[str, Specification] = field(default_factory=dict)
    files: dict[FilePath, str] = field(default_factory=dict)

    @property
    def hash(self) -> str:
        """Identifies this config: a hash over all files it was read from."""
        lines = "\n".join(f"{path} {digest}" for path, digest in sorted(self.files.items()))
        return sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()[:12]

    @property
    def problems(self) -> list[Problem]:
        return self.findings.problems

    @property
    def texts(self) -> dict[str, str]:
        """The texts of the files with problems, by the names that problems use."""
        return self.findings.texts


class CannotServe(Exception):
    """A plan cannot be served; `str` says why, in a sentence."""


class CannotConnect(CannotServe):
    """A store that is necessary cannot be used; `str` says why and what to do."""
