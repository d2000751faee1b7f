"""OpenTelemetry traces of requests and attempts. Read `traces.py` first."""
