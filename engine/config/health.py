"""`ejection`, `health` and `rate_limits` of an upstream: when its targets are tried last."""

from __future__ import annotations

from msgspec import Struct

from engine.config.keys import default
from engine.source.problem import Findings, Path
from engine.source.reader import SourceDocument
from engine.values.trees import Section
from engine.values.units import duration_text


class EjectionConfig(Struct, frozen=True):
    """Passive ejection (see `engine/upstream/health/outliers.py`). Times are in seconds."""

    errors: float = default("upstreams.*.ejection.errors")
    latency: float = default("upstreams.*.ejection.latency")
    requests: int = default("upstreams.*.ejection.requests")
    window: float = default("upstreams.*.ejection.window")
    time: float = default("upstreams.*.ejection.time")
    max_time: float = default("upstreams.*.ejection.max_time")
    max_out: float = default("upstreams.*.ejection.max_out")
    slow_start: float = default("upstreams.*.ejection.slow_start")


class ProbeConfig(Struct, frozen=True):
    """Active probes: GET `path` every `every` seconds with a timeout of `timeout` seconds. `status`
    are the statuses of a healthy server; an `anonymous` probe has no credential."""

    path: str
    every: float = default("upstreams.*.health.every")
    timeout: float = default("upstreams.*.health.timeout")
    healthy: int = default("upstreams.*.health.healthy")
    unhealthy: int = default("upstreams.*.health.unhealthy")
    status: tuple[int, ...] = tuple(default("upstreams.*.health.status"))
    anonymous: bool = default("upstreams.*.health.anonymous")


class RateLimitsConfig(Struct, frozen=True):
    """Rate limits that responses report: a target is tried last when at most the share `reserve` of
    one of its limits is left."""

    reserve: float = default("upstreams.*.rate_limits.reserve")


def read_ejection(
    upstream: Section, at: Path, source: SourceDocument, findings: Findings
) -> EjectionConfig:
    """`ejection` of an upstream at `at`. Contradictory values go to the findings."""
    section = upstream.get("ejection", {})
    ejection = EjectionConfig(**section)
    if ejection.time > ejection.max_time:
        time = duration_text(ejection.time)
        message = f"ejection.time ({time}) is longer than ejection.max_time"
        hint = f"write `max_time: {time}` or more, or a shorter time"
        place = (*at, "ejection", "time" if "time" in section else "max_time")
        findings.error(source, place, "MW384", message, hint)
    if 0 < ejection.latency < 1:
        message = "'latency' is a multiple of the usual latency: it must be 0, or 1 or more"
        hint = "write 5, or 0 to switch it off"
        findings.error(source, (*at, "ejection", "latency"), "MW104", message, hint)
    return ejection


def read_probes(
    upstream: Section, at: Path, source: SourceDocument, findings: Findings
) -> ProbeConfig | None:
    """`health` of an upstream at `at`, None without it. A timeout longer than the interval of
    probes goes to the findings."""
    section = upstream.get("health")
    if section is None:
        return None
    values = dict(section)
    if "status" in values:
        values["status"] = tuple(values["status"])
    probes = ProbeConfig(**values)
    if probes.timeout > probes.every:
        key = "timeout" if "timeout" in section else "every"
        message = f"health.timeout ({duration_text(probes.timeout)}) is longer than health.every"
        hint = f"write a timeout of at most {duration_text(probes.every)}, or probe less often"
        findings.error(source, (*at, "health", key), "MW384", message, hint)
    return probes
