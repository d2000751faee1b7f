"""The path of a request to an upstream, below the upstream's `url`, from a template."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from msgspec import Struct

from engine.spec.document.path_templates import unsafe
from engine.transforms.template import TARGET_NAMES, Read, Template, TemplateValues
from engine.values.errors import GatewayError

_PATH = TARGET_NAMES["target.path"]


class PathForms(Struct, frozen=True):
    """The template of a path, and its template for requests for a stream."""

    plain: Template
    stream: Template


class PathEdit(Struct, frozen=True):
    """The new paths by original path. `default` is the template for all other paths, None to keep
    them."""

    by_path: Mapping[str, PathForms]
    default: Template | None = None

    def depends_on_stream(self, path: str) -> bool:
        """Whether a path has another form for streams."""
        forms = self.by_path.get(path)
        return forms is not None and forms.stream is not forms.plain

    def apply(self, values: TemplateValues, *, stream: bool) -> str:
        """The new path for `values.target_path`. Values are percent-encoded, so that they add no
        segment, and must not be empty, so that they remove none; only `{target.path}` is inserted
        unchanged. Raises GatewayError 400 if a value makes the path unsafe, ValueError if the
        template itself is unsafe."""
        template = self.default
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
    message = f"A value of this request is not valid in the path to the upstream: {reason}."
    return GatewayError(400, "invalid_value", message)
