"""What a master loads for its workers, which share its memory."""

from __future__ import annotations

from importlib import import_module

from engine import translations
from engine.app.services.plan_needs import is_limited
from engine.config.config import Config
from engine.plan.plan import Plan
from engine.upstream.client.tls import read_authorities

_METRICS = "engine.telemetry.metrics.recorder", "engine.telemetry.metrics.inference"
_COUNTERS = "engine.stores.counters.memory"
_WARNINGS = "engine.app.services.limit_warnings"
_RECORDS = "engine.app.services.records", "engine.callers.records"
_MCP = "engine.app.mcp.servers"
_OBJECTS = (
    *(
        "engine.objects.id_cipher",
        "engine.app.routes.batch_stages",
        "engine.app.routes.object_stages",
    ),
    *("engine.upstream.object_lists", "engine.upstream.stored_response_forward"),
)


def preload(plan: Plan) -> None:
    """Import the modules that the workers of a plan need and others do not, and read the system's
    certificate authorities and what models accept. What is not loaded here, each worker loads
    itself."""
    config = plan.config
    if config.telemetry.metrics:
        for name in _METRICS:
            import_module(name)
    if is_limited(plan):
        import_module(_WARNINGS)
        if config.stores.counters == "memory":
            import_module(_COUNTERS)
    if config.stores.records is not None:
        for name in _RECORDS:
            import_module(name)
    if config.mcp:
        import_module(_MCP)
    if config.objects.ring:
        for name in _OBJECTS:
            import_module(name)
    if any(upstream.url.startswith("https:") for upstream in config.upstreams.values()):
        read_authorities()
    preload_models(config)


def preload_models(config: Config) -> None:
    """Read what the models of the config's targets accept."""
    targets = (target for model in config.models.values() for target in model.targets)
    translations.preload({config.upstreams[target.upstream].dialect for target in targets})
