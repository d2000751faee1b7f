"""`telemetry:` of gateway.yaml: logs, metrics, traces and the listener that serves them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path as FilePath

from msgspec import Struct, field

from engine.config import keys
from engine.config.keys import default
from engine.config.listen_address import ListenAddress
from engine.config.server import read_networks
from engine.source.problem import Findings, Path, Source
from engine.values.client_address import Network, networks
from engine.values.trees import Section

ALIVE = "/healthz"
"""The liveness page, served on every listener."""

READY = "/readyz"
PAGES = (ALIVE, READY)
"""The paths of liveness and readiness."""

OPERATIONS, OPERATIONS_DATA = "/operations", "/operations.json"
"""The page of operations and its data, on the listener for telemetry; below it are its files."""
_TAKEN = (*PAGES, OPERATIONS, OPERATIONS_DATA)

V1_41, GENAI_2026_10 = "v1.41", "genai-2026-10"
"""Values of `telemetry.semconv`: whose names OpenTelemetry's attributes and metrics for GenAI have,
those of the last release, or those of their repository in October 2026."""

OFF, PUBLIC = "off", "public"
"""Values of `telemetry.listen` instead of an address: not served, or served on server.listen."""

_METRICS = "/metrics"
_RESERVED_HEADERS = frozenset(
    {"host", "connection", "content-type", "content-length", "content-encoding", "upgrade"}
    | {"transfer-encoding"}
)


class AccessLogConfig(Struct, frozen=True):
    """One line for each request. `format` is json, text or off; no `fields` means the default ones.

    `sample` is the share of complete 2xx responses that are logged; `path` is stdout, stderr or a
    file.
    """

    format: str = default("telemetry.access_log.format")
    fields: tuple[str, ...] = ()
    sample: float = default("telemetry.access_log.sample")
    path: str = default("telemetry.access_log.path")


class Log(Struct, frozen=True):
    """The gateway's own log, on standard error: `format` is json or text, `level` the lowest that
    is logged."""

    format: str = default("telemetry.log.format")
    level: str = default("telemetry.log.level")


class Traces(Struct, frozen=True):
    """`url` is the collector's; `sample` is the share of traces that begin at this gateway.
    `headers` are sent with each request to the collector; they may be secret."""

    url: str = field(name="endpoint")
    sample: float = default("telemetry.traces.sample")
    headers: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Traces({self.url!r}, sample={self.sample!r})"  # without the headers


class MetricsExport(Struct, frozen=True):
    """`url` is the collector's, which gets the metrics every `interval` seconds; `headers` are sent
    with them, and may be secret."""

    url: str = field(name="endpoint")
    interval: float = default("telemetry.otlp_metrics.interval")
    headers: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"MetricsExport({self.url!r}, interval={self.interval!r})"  # without the headers


class Telemetry(Struct, frozen=True):
    """`metrics` is the path of the metrics, "" for none; clients in `allow_ips` may read them and
    the details of health, and see the page of operations, if that is switched on. `series` bounds
    how many a worker has. `tags` have metrics. `semconv` is V1_41 or GENAI_2026_10.

    `listen` is the address of the listener for metrics and readiness, or OFF or PUBLIC.
    """

    access_log: AccessLogConfig = field(default_factory=AccessLogConfig)
    log: Log = field(default_factory=Log)
    metrics: str = _METRICS
    series: int = default("telemetry.series")
    tags: tuple[str, ...] = ()
    semconv: str = default("telemetry.semconv")
    operations: bool = default("telemetry.operations")
    listen: str = default("telemetry.listen")
    allow_ips: tuple[Network, ...] = networks(default("telemetry.allow_ips"))
    traces: Traces | None = None
    otlp_metrics: MetricsExport | None = None

    @property
    def address(self) -> str:
        """The address of the listener for telemetry; "" if there is none."""
        return "" if self.listen in (OFF, PUBLIC) else self.listen

    @property
    def public_pages(self) -> tuple[str, ...]:
        """The paths of telemetry that are served on the listener of the API."""
        if self.listen != PUBLIC:
            return (ALIVE,)
        return (*PAGES, *([self.metrics] if self.metrics else []))


def read_telemetry(
    section: Mapping[str, object], folder: FilePath, source: Source, findings: Findings
) -> Telemetry:
    """`telemetry:`, its paths made absolute from the config's folder."""
    values = keys.fill(section, "telemetry")
    metrics = values["metrics"]
    if metrics in _TAKEN or str(metrics).startswith(f"{OPERATIONS}/"):
        message = f"{metrics} is a page of the gateway; the metrics need another path"
        findings.error(source, ("telemetry", "metrics"), "MW104", message)
    if "semconv" in section and not metrics and "traces" not in values:
        message = "nothing has these names: `metrics` is false, and there are no `traces`"
        findings.error(source, ("telemetry", "semconv"), "MW105", message, key=True)
    allow_ips = read_networks(values["allow_ips"], ("telemetry", "allow_ips"), source, findings)
    return Telemetry(
        access_log=_access_log(values.get("access_log", {}), folder),
        log=Log(**values.get("log", {})),
        metrics=metrics if isinstance(metrics, str) else _METRICS if metrics else "",
        series=values["series"],
        tags=tuple(values.get("tags", ())),
        semconv=values["semconv"],
        operations=values["operations"],
        listen=values["listen"],
        allow_ips=allow_ips,
        traces=_traces(values["traces"], source, findings) if "traces" in values else None,
        otlp_metrics=_export(values, source, findings) if "otlp_metrics" in values else None,
    )


def check_listen(
    telemetry: Telemetry, server: str, at: Path, source: Source, findings: Findings
) -> None:
    """Note at `at` a `telemetry.listen` that overlaps `server`, the address of the API."""
    if not telemetry.address:
        return
    if ListenAddress.parse(telemetry.address).overlaps(ListenAddress.parse(server)):
        message = (
            f"telemetry.listen ({telemetry.address}) is the address of server.listen ({server})"
        )
        hint = "write another port, or `public` to serve metrics and health beside the API"
        findings.error(source, at, "MW104", message, hint)


def _access_log(section: Mapping[str, object], folder: FilePath) -> AccessLogConfig:
    values = keys.fill(section, "telemetry.access_log")
    path = values["path"]
    return AccessLogConfig(
        format=values["format"],
        fields=tuple(values.get("fields", ())),
        sample=float(values["sample"]),
        path=path if path in ("stdout", "stderr") else str(folder / path),
    )


def _traces(section: Section, source: Source, findings: Findings) -> Traces:
    url, headers = _collector(section, "traces", source, findings)
    return Traces(url, float(keys.fill(section, "telemetry.traces")["sample"]), headers)


def _export(values: Section, source: Source, findings: Findings) -> MetricsExport:
    section = values["otlp_metrics"]
    if not values["metrics"]:
        message = "there are no metrics to export: `metrics` is false"
        findings.error(source, ("telemetry", "otlp_metrics"), "MW105", message, key=True)
    url, headers = _collector(section, "metrics", source, findings)
    interval = keys.fill(section, "telemetry.otlp_metrics")["interval"]
    return MetricsExport(url, interval, headers)


def _collector(
    section: Section, signal: str, source: Source, findings: Findings
) -> tuple[str, dict[str, str]]:
    """The URL of a collector for a signal, which is traces or metrics, and the headers for it. It
    needs the extra `otel`."""
    at: Path = ("telemetry", "traces" if signal == "traces" else "otlp_metrics")
    if find_spec("google") is None or find_spec("opentelemetry.proto") is None:
        message = f"{signal} need the extra otel, which is not installed"
        findings.error(source, at, "MW108", message, "pip install 'modelway[otel]'", key=True)
    headers = section.get("headers", {})
    for name, value in headers.items():
        message = ""
        if name.lower() in _RESERVED_HEADERS:
            message = f"header '{name}' is set by the exporter of {signal}"
        elif not value.isprintable() or not value.isascii():
            message = f"header '{name}' has other than printable ASCII characters"
        if message:
            findings.error(source, (*at, "headers", name), "MW105", message)
    endpoint, path = section["endpoint"].rstrip("/"), f"/v1/{signal}"
    url = endpoint if endpoint.endswith(path) else endpoint + path
    return url, {k.lower(): v for k, v in headers.items()}
