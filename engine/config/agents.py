"""What a coding agent or an SDK needs to call the gateway: the files `engine/agents/NAME.yaml` as
values."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from functools import cache

from msgspec import Struct, field
from msgspec.structs import replace

from engine.source import files
from engine.source.reader import read as read_yaml

_SUFFIX = ".yaml"
_BASE, _MODEL = "@BASE@", "@MODEL@"
_REFERENCE = re.compile(r"\$[A-Z_]+")
_PLAIN = re.compile(r"[A-Za-z0-9._:/@+~%\[\]-]*")


class AgentFile(Struct, frozen=True):
    """A file of settings at `path`, where `~` is the home folder."""

    path: str
    text: str


class Agent(Struct, frozen=True):
    """A program that calls the gateway.

    It sends its requests to `path`; its base address is that of the gateway with the `suffix`. It
    reads `variables` of the environment and `files`; `start` are the commands that start it, "" for
    an SDK. A value `$MODELWAY_TOKEN` is the variable of that name. `notes` are for its user.

    In a file `@BASE@` is the base address and `@MODEL@` the name of a model.
    """

    name: str
    title: str
    path: str
    suffix: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    files: tuple[AgentFile, ...] = ()
    start: str = ""
    notes: tuple[str, ...] = ()

    def at(self, address: str, model: str) -> Agent:
        """The same for the gateway at an address, which has no path of an API, and for a model.

        Raises ValueError for an address or a name with characters that files or shells do not take
        as they are.
        """
        for text in (address, model):
            if not _PLAIN.fullmatch(text):
                raise ValueError(f"{text!r} has characters that cannot be written into settings")

        def filled(text: str) -> str:
            return text.replace(_BASE, address + self.suffix).replace(_MODEL, model)

        return replace(
            self,
            path=filled(self.path),
            variables={name: filled(value) for name, value in self.variables.items()},
            files=tuple(AgentFile(file.path, filled(file.text)) for file in self.files),
            start=filled(self.start),
        )

    def asks(self, *paths: str) -> bool:
        """Whether it sends its requests to one of these paths, in which `{model}` is the model."""
        return self.path in [path.replace("{model}", _MODEL) for path in paths]

    @property
    def names_model(self) -> bool:
        """Whether its settings name a model; an SDK's program does."""
        texts = (*self.variables.values(), *(file.text for file in self.files), self.start)
        return any(_MODEL in text for text in texts)


@cache
def names() -> tuple[str, ...]:
    """The names of all agents and SDKs, sorted."""
    present = files.names_in(files.AGENTS)
    return tuple(sorted(n.removesuffix(_SUFFIX) for n in present if n.endswith(_SUFFIX)))


@cache
def read(name: str) -> Agent:
    """The agent of that name, one of `names()`."""
    path = files.AGENTS / f"{name}{_SUFFIX}"
    value = read_yaml(path.read_text("utf-8"), str(path)).value
    return Agent(
        name,
        value["title"],
        value["path"],
        value.get("suffix", ""),
        value.get("variables", {}),
        tuple(AgentFile(**file) for file in value.get("files", ())),
        value.get("start", ""),
        tuple(value.get("notes", ())),
    )


def export_lines(variables: Mapping[str, str], form: str = "export {name}={value}\n") -> str:
    """The lines of a shell that set variables, each in a `form`. A value that names a variable is
    not quoted."""
    return "".join(
        form.format(name=name, value=value if _REFERENCE.fullmatch(value) else shlex.quote(value))
        for name, value in variables.items()
    )
