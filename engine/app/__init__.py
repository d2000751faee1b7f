"""Puts the parts of a gateway together. Read `build.py` first, then `route_handler.py`, which shows
the whole stack of a route. `stores.py` opens the stores, with `records.py` for a database;
`telemetry.py` and `tracing.py` set up logs, metrics and traces.
"""
