"""Puts the parts of a gateway together. Read `build.py` first, then `route_handler.py`, which shows
the whole stack of a route. `worker_services.py` opens the services of a worker, with `database.py`,
`limit_counters.py` and `machine_stores.py`; `telemetry.py` and `exporters.py` set up logs, metrics
and traces.
"""
