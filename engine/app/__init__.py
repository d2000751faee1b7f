"""Puts the parts of a gateway together. Read `build.py` first, then `route_handler.py`, which shows
the whole stack of a route. `stores.py` opens what a config asks for, with `records.py` where it has
a database, `telemetry.py` and `tracing.py` set up its logs, metrics and traces.
"""
