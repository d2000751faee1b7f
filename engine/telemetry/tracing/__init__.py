"""Distributed tracing: W3C Trace Context in, OpenTelemetry spans out. Read `spans.py` first."""
