"""`ejection`, `health` and `rate_limits` of an upstream as values."""

from __future__ import annotations

from engine.config.health import EjectionConfig, ProbeConfig, RateLimitsConfig
from tests.config.test_upstream_reader import upstream


def test_health_is_in_seconds_shares_and_statuses() -> None:
    main = upstream(
        "ejection: {errors: 0.2, time: 1m}, rate_limits: {reserve: 0.2},"
        " health: {path: /health, every: 10s, status: [200, 204]}"
    )
    assert main.ejection == EjectionConfig(errors=0.2, time=60.0)
    assert main.health == ProbeConfig("/health", every=10.0, status=(200, 204))
    assert main.rate_limits == RateLimitsConfig(0.2)


def test_without_health_nothing_is_probed() -> None:
    main = upstream("")
    assert main.health is None
    assert (main.ejection, main.rate_limits) == (EjectionConfig(), RateLimitsConfig())
