"""Puts the parts of a gateway together. Read `build.py` first, then `routes/route_handler.py`, the
whole stack of a route. `services/` opens what a process uses, `routes/` makes the handlers of
routes, and `mcp/` the servers of tools, whose calls pass the same handlers.
"""
