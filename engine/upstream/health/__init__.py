"""The health of targets, shared by the workers of a machine: passive ejection, active probes, rate
limits that vendors report. A target that is not healthy is asked last, never refused: that is the
breaker's. Read `outliers` first, then `target_health`."""
