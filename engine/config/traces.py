"""The part of gateway.yaml that says where traces are sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from engine.source.problem import Findings, Path, Source

_PATH = "/v1/traces"
_AT: Path = ("telemetry", "traces")
_OURS = frozenset(
    {"host", "connection", "content-type", "content-length", "content-encoding", "upgrade"}
    | {"transfer-encoding"}
)


@dataclass(frozen=True, slots=True)
class Traces:
    """`url` is the collector's, for traces; `sample` the share that is kept of the traces that
    begin here. `headers` go with each request to the collector: they may be secret."""

    url: str
    sample: float = 1.0
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


def traces(said: Mapping[str, Any], source: Source, findings: Findings) -> Traces:
    """`telemetry.traces:`. It needs the extra `otel`."""
    if find_spec("google") is None or find_spec("opentelemetry.proto") is None:
        message = "traces need the extra otel, which is not installed"
        findings.error(source, _AT, "MW108", message, "pip install 'modelway[otel]'", key=True)
    headers = said.get("headers", {})
    for name, value in headers.items():
        if name.lower() in _OURS or not value.isprintable() or not value.isascii():
            message = f"header '{name}' cannot be given this value here"
            findings.error(source, (*_AT, "headers", name), "MW105", message)
    endpoint = said["endpoint"].rstrip("/")
    url = endpoint if endpoint.endswith(_PATH) else endpoint + _PATH
    return Traces(url, float(said.get("sample", 1.0)), {k.lower(): v for k, v in headers.items()})
