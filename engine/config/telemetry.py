"""The part of gateway.yaml that says what is told of the requests, and to whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from engine.config.traces import Traces, traces
from engine.network import Network, networks
from engine.problem import Findings, Source

PAGES = ("/healthz", "/readyz")
"""The paths of the gateway's own pages, besides that of the metrics."""

_LOOPBACK = networks(["127.0.0.0/8", "::1"])


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
class Telemetry:
    """`metrics` is their path, "" for none; `allow_ips` may read them, and health's details."""

    access_log: AccessLog = field(default_factory=AccessLog)
    log: Log = field(default_factory=Log)
    metrics: str = "/metrics"
    allow_ips: tuple[Network, ...] = _LOOPBACK
    traces: Traces | None = None


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
        allow_ips=_allowed(said["allow_ips"], source, findings)
        if "allow_ips" in said
        else _LOOPBACK,
        traces=traces(said["traces"], source, findings) if "traces" in said else None,
    )


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
