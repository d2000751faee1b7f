"""Reports requests when they end: access log, `metrics/`, `tracing/`; and the health of a worker.
It never delays a request. Read `access_log.py` first.
"""
