"""`mcp:` of gateway.yaml: MCP servers, whose tools are operations, tools of other MCP servers, and
models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from engine.config import keys
from engine.config.keys import default
from engine.source.problem import Path
from engine.values.trees import Json
from engine.values.wildcard import matches

EXCEPT = "!"
"""The first character of a pattern that takes operations away."""


class ToolArgument(Struct, frozen=True):
    """Changes of an argument. `values` holds the one that is always sent, nothing if agents give
    it. `at` is its place."""

    values: tuple[Any, ...] = field(default=(), name="value")
    hide: bool = default("mcp.*.tools.*.arguments.*.hide")
    description: str = ""
    at: Path = ()


class ToolConfig(Struct, frozen=True):
    """Changes of a tool. None and "" leave it as its document has it."""

    name: str = ""
    title: str = ""
    description: str = ""
    hide: bool = default("mcp.*.tools.*.hide")
    output_schema: bool | None = None
    read_only: bool | None = None
    arguments: Mapping[str, ToolArgument] = field(default_factory=dict)
    at: Path = ()

    def over(self, other: ToolConfig) -> ToolConfig:
        """These changes after those of `other`."""
        return replace(
            self,
            name=self.name or other.name,
            title=self.title or other.title,
            description=self.description or other.description,
            hide=self.hide or other.hide,
            output_schema=other.output_schema if self.output_schema is None else self.output_schema,
            read_only=other.read_only if self.read_only is None else self.read_only,
            arguments={**other.arguments, **self.arguments},
        )


NO_CHANGES = ToolConfig()


class ToolServer(Struct, frozen=True):
    """What is taken of another MCP server: the tools that `patterns` name, all without any, with
    `prefix` before their names. `upstream` is the name of its upstream."""

    upstream: str
    prefix: str
    patterns: tuple[str, ...]
    at: Path

    def takes(self, tool: str) -> bool:
        """Whether a tool is taken, by the server's name for it."""
        return not self.patterns or selects(tool, self.patterns)


class ModelTool(Struct, frozen=True):
    """A tool that asks a model: its name, which is its kind, and the models that a call may name,
    the first for a call that names none."""

    name: str
    models: tuple[str, ...]
    at: Path


def selects(name: str, patterns: Sequence[str]) -> bool:
    """Whether a list of patterns takes a name: the last that matches it decides."""
    for pattern in reversed(patterns):
        if matches(name, pattern.removeprefix(EXCEPT)):
            return not pattern.startswith(EXCEPT)
    return False


class McpServer(Struct, frozen=True):
    """An MCP server: its path, and what its tools are. `operations` are patterns as written, each
    with its place; `tools` are changes by operation or wildcard."""

    name: str
    path: str
    operations: tuple[tuple[str, Path], ...]
    at: Path
    tools: Mapping[str, ToolConfig] = field(default_factory=dict)
    search_above: int = default("mcp.*.search_above")
    output_schemas: bool = default("mcp.*.output_schemas")
    servers: tuple[ToolServer, ...] = ()
    models: tuple[ModelTool, ...] = ()

    def takes(self, operation: str) -> bool:
        """Whether an operation is a tool of this server, unless it is hidden: the last pattern that
        matches it decides."""
        return selects(operation, [pattern for pattern, _ in self.operations])

    def changes(self, operation: str) -> ToolConfig:
        """The changes of the tool of an operation: of all entries that match it, those with a
        longer name over those with a shorter one, and its own over all."""
        patterns = [name for name in self.tools if matches(operation, name)]
        changes = NO_CHANGES
        for name in sorted(patterns, key=lambda each: ("*" not in each, len(each))):
            entry = self.tools[name]
            if "*" in name:  # these are for one operation, which `plan` says
                entry = replace(entry, name="", title="", description="")
            changes = entry.over(changes)
        return changes


def read_mcp(name: str, section: Json) -> McpServer:
    """An entry of `mcp:`."""
    values = keys.fill(section, "mcp.*")
    at = ("mcp", name)
    patterns = enumerate(values.get("operations", ()))
    return McpServer(
        name=name,
        path=values["path"],
        operations=tuple((pattern, (*at, "operations", i)) for i, pattern in patterns),
        at=at,
        tools={
            operation: _tool(entry or {}, (*at, "tools", operation))
            for operation, entry in values.get("tools", {}).items()
        },
        search_above=values["search_above"],
        output_schemas=values["output_schemas"],
        servers=tuple(
            _server(upstream, entry or {}, (*at, "servers", upstream))
            for upstream, entry in values.get("servers", {}).items()
        ),
        models=tuple(
            ModelTool(
                kind, (models,) if isinstance(models, str) else tuple(models), (*at, "models", kind)
            )
            for kind, models in values.get("models", {}).items()
        ),
    )


def _server(upstream: str, section: Json, at: Path) -> ToolServer:
    prefix = section.get("prefix", f"{upstream}_")
    return ToolServer(upstream, prefix, tuple(section.get("tools", ())), at)


def _tool(section: Json, at: Path) -> ToolConfig:
    values = keys.fill(section, "mcp.*.tools.*")
    return ToolConfig(
        name=values.get("name", ""),
        title=values.get("title", ""),
        description=values.get("description", ""),
        hide=values["hide"],
        output_schema=values.get("output_schema"),
        read_only=values.get("read_only"),
        arguments={
            name: _argument(entry, (*at, "arguments", name))
            for name, entry in values.get("arguments", {}).items()
        },
        at=at,
    )


def _argument(section: Json, at: Path) -> ToolArgument:
    values = keys.fill(section, "mcp.*.tools.*.arguments.*")
    return ToolArgument(
        values=(values["value"],) if "value" in values else (),
        hide=values["hide"],
        description=values.get("description", ""),
        at=at,
    )
