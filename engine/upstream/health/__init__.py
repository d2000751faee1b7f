"""The health of targets, shared by the workers of a machine: passive ejection, active probes, rate
limits that vendors report. A target that is not healthy is asked last; only its circuit breaker
excludes it. Read `outliers` first, then `target_health`."""
