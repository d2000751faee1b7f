"""The path of a request to an upstream, below the upstream's `url`, from a template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from engine.spec.path_templates import unsafe
from engine.transforms.template import TARGET_NAMES, Read, Template, TemplateValues
from engine.values.errors import GatewayError

_PATH = TARGET_NAMES["target.path"]


@dataclass(frozen=True, slots=True)
class PathForms:
    """The template of a path, and the one of a request for a stream."""

    plain: Template
    stream: Template


@dataclass(frozen=True, slots=True)
class PathEdit:
    """The new paths by the path as it would be sent; `every` is that of all others, None for a path
    that stays."""

    by_path: Mapping[str, PathForms]
    every: Template | None = None

    def depends_on_stream(self, path: str) -> bool:
        """Whether a path has another form for streams."""
        forms = self.by_path.get(path)
        return forms is not None and forms.stream is not forms.plain

    def apply(self, values: TemplateValues, *, stream: bool) -> str:
        """The path for `values.target_path`. Values of names are percent-encoded, so that they add
        no segment, and not empty, so that they take none away; only `{target.path}` stands as it
        is. Raises GatewayError 400 for a value that makes it a path that no upstream should see,
        ValueError if no value does."""
        template = self.every
        if (forms := self.by_path.get(values.target_path)) is not None:
            template = forms.stream if stream else forms.plain
        if template is None:
            return values.target_path
        path = template.fill(values, _encode)
        if path is None:
            return values.target_path
        if (reason := unsafe(path)) is not None:
            raise ValueError(reason) if template.constant is not None else _refusal(reason)
        return path


def _encode(value: str, name: Read) -> str:
    if value == "" and name is not _PATH:
        raise _refusal("it is empty")
    return value if name is _PATH else quote(value, safe="")


def _refusal(reason: str) -> GatewayError:
    message = f"A value of this request cannot stand in the path to the upstream: {reason}."
    return GatewayError(400, "invalid_value", message)
