"""The plan: all routes of a config, and what the gateway offers of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path as FilePath

import msgspec
from msgspec.structs import replace

from engine.config.config import Config
from engine.config.mcp import NO_CHANGES, ToolConfig
from engine.config.model_operation import ModelOperation
from engine.config.operations_by_model import ModelOperations
from engine.config.providers import free_texts
from engine.config.schema_check import free_schema
from engine.metering.tokenizer import Tokenizer
from engine.plan.route import Route
from engine.plan.tool_pins import Definition
from engine.source.problem import Findings, Problem
from engine.spec.document.node import Node
from engine.spec.spec import Specification
from engine.translations import counterparts, path_suffixes


class ToolUpstream(msgspec.Struct, frozen=True):
    """An upstream that is an MCP server: the route of the calls of its tools, the path and query of
    its URL as they are written (servers redirect from one path to another), the headers of
    callers that are `forwarded`, and the tools of its pins by name, None if they are not pinned."""

    name: str
    route: Route
    path: str
    query: str
    forwarded: tuple[str, ...]
    pins: Mapping[str, Definition] | None = None


class NamedRoute(msgspec.Struct, frozen=True):
    """The route of an operation that is a tool: the name of the tool, and what the config changes
    of it."""

    name: str
    route: Route
    changes: ToolConfig = NO_CHANGES


class Plan(msgspec.Struct, frozen=True):
    """All routes to serve. `specifications` are the documents, for pages that show them; `by_model`
    are all operations that are routed by model, even if `routes` has been reduced since, and
    `operations` those of each model when the plan was made; `tokenizers` are loaded, by the paths
    of their files. `tools` are those of each MCP server, in the order of their names, and
    `tool_upstreams` the other MCP servers, by the names of their upstreams."""

    config: Config
    routes: tuple[Route, ...]
    specifications: Mapping[str, Specification] = msgspec.field(default_factory=dict)
    by_model: tuple[ModelOperation, ...] = ()
    operations: ModelOperations | None = None
    tokenizers: Mapping[str, Tokenizer] = msgspec.field(default_factory=dict)
    tools: Mapping[str, tuple[NamedRoute, ...]] = msgspec.field(default_factory=dict)
    tool_upstreams: Mapping[str, ToolUpstream] = msgspec.field(default_factory=dict)

    def served(self) -> Plan:
        """The plan for a gateway. Its config has no routes: they are the operations' now. This plan
        loses the texts and positions of the files, which only problems need; the schema of the
        config and the texts of the providers are freed."""
        free_schema()
        free_texts()
        self.config.source.free_positions()
        self.config.source.value = None
        for specification in self.specifications.values():
            specification.library.release()
        return replace(self, config=replace(self.config, routes=()))

    def model_operations(self) -> ModelOperations:
        """The operations of each model: those of the time when the plan was made, unless its models
        or upstreams were replaced since."""
        config, known = self.config, self.operations
        if known is not None and known.is_of(config.models, config.upstreams):
            return known
        return model_operations(config, self.by_model)


def model_operations(config: Config, by_model: Iterable[ModelOperation]) -> ModelOperations:
    """The operations of each model, out of all that are routed by model. A config without models
    needs no languages: to import them takes a tenth of a second."""
    languages = (counterparts(), path_suffixes()) if config.models else ()
    return ModelOperations(config.models, config.upstreams, by_model, *languages)


class ServedConfig(msgspec.Struct, frozen=True):
    """A config without errors, its routes, and the operations of each model: what the checks
    against documents need."""

    config: Config
    routes: Sequence[Route]
    operations: ModelOperations
    specifications: Mapping[str, Specification]

    def node(self, route: Route) -> Node:
        """The operation of a route in its document."""
        return self.specifications[route.operation.spec].node(route.operation)


@dataclass(slots=True)
class PlanResult:
    """A plan and the problems of its files; `plan` is None if there are errors, `config` if it
    cannot be read. `files` are the files that were read, with their SHA-256 (see
    `engine.source.files.record_reads`)."""

    plan: Plan | None = None
    config: Config | None = None
    findings: Findings = field(default_factory=Findings)
    specifications: dict[str, Specification] = field(default_factory=dict)
    files: dict[FilePath, str] = field(default_factory=dict)

    @property
    def hash(self) -> str:
        """The identifier of this config: a hash of all files that were read."""
        lines = "\n".join(f"{path} {digest}" for path, digest in sorted(self.files.items()))
        return sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()[:12]

    @property
    def problems(self) -> list[Problem]:
        return self.findings.problems

    @property
    def texts(self) -> dict[str, str]:
        """The texts of the files with problems, by the file names in the problems."""
        return self.findings.texts


class CannotServe(Exception):
    """A plan cannot be served; `str` gives the reason in a sentence."""


class CannotConnect(CannotServe):
    """A required store cannot be used; `str` gives the reason and what to do."""
