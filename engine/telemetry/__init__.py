"""What is reported about requests when they end: access log, `metrics/`, `tracing/`; and health.
It never delays a request. Read `access_log.py` first.
"""
