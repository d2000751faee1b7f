"""Tokens that are fetched: when they are renewed, how workers share them, and where they come from.

Read `source.py` first. A token is fetched by a helper process (`helper_process.py`), because the
vendors' libraries block, take a third of a second and 15 MB to load, and are needed once an hour.
"""
