"""The part of gateway.yaml that says what is told of the requests, and to whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path as FilePath
from typing import Any

from engine.source.problem import Findings, Path, Source
from engine.values.client_address import Network, networks
from engine.values.listen_address import ListenAddress

ALIVE = "/healthz"
"""The page that is served on every listener: it says nothing but that a worker answers."""

PAGES = (ALIVE, "/readyz")
"""The paths of the gateway's own pages, besides that of the metrics."""

OFF, PUBLIC = "off", "public"
"""Words in place of an address in `telemetry.listen`: not served, or served on server.listen."""

_LISTEN = "127.0.0.1:9090"
_LOOPBACK = networks(["127.0.0.0/8", "::1"])


_TRACES_PATH = "/v1/traces"
_TRACES: Path = ("telemetry", "traces")
_RESERVED_HEADERS = frozenset(
    {"host", "connection", "content-type", "content-length", "content-encoding", "upgrade"}
    | {"transfer-encoding"}
)


@dataclass(frozen=True, slots=True)
class AccessLog:
    """One line for each request. `format` is json, text or off; no `fields` means the usual ones.
    `sample` is the share of the complete 2xx that are written; `path` is stdout, stderr or a file.
    """

    format: str = "json"
    fields: tuple[str, ...] = ()
    sample: float = 1.0
    path: str = "stdout"


@dataclass(frozen=True, slots=True)
class Log:
    """The gateway's own log, on standard error: `format` is json or text, `level` the least that
    is written."""

    format: str = "json"
    level: str = "warning"


@dataclass(frozen=True, slots=True)
class Traces:
    """`url` is the collector's, for traces; `sample` the share that is kept of the traces that
    begin here. `headers` go with each request to the collector: they may be secret."""

    url: str
    sample: float = 1.0
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Telemetry:
    """`metrics` is their path, "" for none; `allow_ips` may read them, and health's details.

    `listen` is the address of the listener for metrics and readiness, or OFF or PUBLIC.
    """

    access_log: AccessLog = field(default_factory=AccessLog)
    log: Log = field(default_factory=Log)
    metrics: str = "/metrics"
    listen: str = _LISTEN
    allow_ips: tuple[Network, ...] = _LOOPBACK
    traces: Traces | None = None

    @property
    def address(self) -> str:
        """The address of the listener of its own; "" where there is none."""
        return "" if self.listen in (OFF, PUBLIC) else self.listen

    @property
    def public_pages(self) -> tuple[str, ...]:
        """The paths of the gateway's own pages that are served beside the API."""
        if self.listen != PUBLIC:
            return (ALIVE,)
        return (*PAGES, *([self.metrics] if self.metrics else []))


def telemetry(
    said: Mapping[str, Any], folder: FilePath, source: Source, findings: Findings
) -> Telemetry:
    """`telemetry:`, its paths made absolute from the config's folder."""
    metrics = said.get("metrics", True)
    if metrics in PAGES:
        message = f"{metrics} is the gateway's own already; the metrics need another path"
        findings.error(source, ("telemetry", "metrics"), "MW104", message)
    return Telemetry(
        access_log=_access_log(said.get("access_log", {}), folder),
        log=Log(**said.get("log", {})),
        metrics=metrics if isinstance(metrics, str) else "/metrics" if metrics else "",
        listen=said.get("listen", _LISTEN),
        allow_ips=_allowed(said["allow_ips"], source, findings)
        if "allow_ips" in said
        else _LOOPBACK,
        traces=_traces(said["traces"], source, findings) if "traces" in said else None,
    )


def check_listen(
    said: Telemetry, server: str, at: Path, source: Source, findings: Findings
) -> None:
    """Note at `at` a `telemetry.listen` that cannot be bound beside `server`, the API's address."""
    if not said.address:
        return
    if ListenAddress.parse(said.address).overlaps(ListenAddress.parse(server)):
        message = f"telemetry.listen ({said.address}) is the address of server.listen ({server})"
        hint = "write another port, or `public` to serve metrics and health beside the API"
        findings.error(source, at, "MW104", message, hint)


def _access_log(said: Mapping[str, Any], folder: FilePath) -> AccessLog:
    path = said.get("path", "stdout")
    return AccessLog(
        format=said.get("format", "json"),
        fields=tuple(said.get("fields", ())),
        sample=float(said.get("sample", 1.0)),
        path=path if path in ("stdout", "stderr") else str(folder / path),
    )


def _allowed(said: list[str], source: Source, findings: Findings) -> tuple[Network, ...]:
    found: list[Network] = []
    for index, text in enumerate(said):
        try:
            found += networks([text])
        except ValueError as error:
            findings.error(source, ("telemetry", "allow_ips", index), "MW104", str(error))
    return tuple(found)


def _traces(said: Mapping[str, Any], source: Source, findings: Findings) -> Traces:
    """`telemetry.traces:`. It needs the extra `otel`."""
    if find_spec("google") is None or find_spec("opentelemetry.proto") is None:
        message = "traces need the extra otel, which is not installed"
        findings.error(source, _TRACES, "MW108", message, "pip install 'modelway[otel]'", key=True)
    headers = said.get("headers", {})
    for name, value in headers.items():
        if name.lower() in _RESERVED_HEADERS or not value.isprintable() or not value.isascii():
            message = f"header '{name}' cannot be given this value here"
            findings.error(source, (*_TRACES, "headers", name), "MW105", message)
    endpoint = said["endpoint"].rstrip("/")
    url = endpoint if endpoint.endswith(_TRACES_PATH) else endpoint + _TRACES_PATH
    return Traces(url, float(said.get("sample", 1.0)), {k.lower(): v for k, v in headers.items()})
