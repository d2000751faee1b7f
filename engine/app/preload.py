"""What a master loads for its workers, which share its memory."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from engine import translations
from engine.app.services.plan_needs import is_limited
from engine.config.config import Config
from engine.config.console import SIGN_IN
from engine.plan.plan import Plan
from engine.upstream.client.tls import read_authorities

_METRICS = "engine.telemetry.metrics.worker_metrics", "engine.telemetry.metrics.inference"
_COUNTERS = "engine.stores.counters.memory"
_WARNINGS = "engine.app.services.limit_warnings"
_RECORDS = "engine.app.services.records", "engine.callers.records"
_EXPORTERS = "engine.app.services.exporters"
_BEARERS = "engine.app.services.bearers"
_SIGN_IN = "engine.app.services.sign_in"
_MCP = "engine.app.mcp.servers"
_OBJECTS = (
    *(
        "engine.objects.id_cipher",
        "engine.app.routes.batch_stages",
        "engine.app.routes.object_stages",
    ),
    *("engine.upstream.objects.object_lists", "engine.upstream.objects.stored_response_forward"),
)


def preload(plan: Plan) -> None:
    """Import the modules that the workers of a plan need and others do not, and read the system's
    certificate authorities and what models accept. What is not loaded here, each worker loads
    itself."""
    for name in _modules(plan):
        import_module(name)
    config = plan.config
    if any(upstream.url.startswith("https:") for upstream in config.upstreams.values()):
        read_authorities()
    preload_models(config)


def _modules(plan: Plan) -> Iterator[str]:
    """Those that only some plans need."""
    config, telemetry = plan.config, plan.config.telemetry
    if telemetry.metrics:
        yield from _METRICS
    if telemetry.traces is not None or telemetry.otlp_metrics is not None:
        yield _EXPORTERS
    if is_limited(plan):
        yield _WARNINGS
        if config.stores.counters == "memory":
            yield _COUNTERS
    if config.stores.records is not None:
        yield from _RECORDS
    if config.jwt:
        yield _BEARERS
        if config.console.serves(SIGN_IN):
            yield _SIGN_IN
    if config.mcp:
        yield _MCP
    if config.objects.ring:
        yield from _OBJECTS


def preload_models(config: Config) -> None:
    """Read what the models of the config's targets accept."""
    targets = (target for model in config.models.values() for target in model.targets)
    translations.preload({config.upstreams[target.upstream].dialect for target in targets})
