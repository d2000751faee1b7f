"""Who tells of the spans: this worker, as OpenTelemetry describes a service.

https://opentelemetry.io/docs/specs/semconv/resource/ and, for the environment,
https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from urllib.parse import unquote

log = logging.getLogger("modelway")


def resource(environ: Mapping[str, str], version: str, host: str, pid: int) -> dict[str, str | int]:
    """The attributes of a worker. OTEL_RESOURCE_ATTRIBUTES (`key=value,...`, percent-encoded) comes
    before ours, OTEL_SERVICE_NAME before both."""
    known: dict[str, str | int] = {
        "service.name": "modelway",
        "service.version": version,
        "service.instance.id": f"{host}:{pid}",
        "host.name": host,
        "process.pid": pid,
    }
    known |= _said(environ.get("OTEL_RESOURCE_ATTRIBUTES", ""))
    if name := environ.get("OTEL_SERVICE_NAME"):
        known["service.name"] = name
    return known


def _said(text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    if any(not key.strip() or not equals for key, equals, _ in pairs):
        log.warning("OTEL_RESOURCE_ATTRIBUTES is not key=value,key=value: none of it is used")
        return {}
    return {key.strip(): unquote(value.strip()) for key, _, value in pairs}
