"""Counters of many machines in Redis or Valkey. Read `partition.py` first, which takes all limits
of a request; `client.py` has the connections to a server, `scripts.py` the Lua scripts.
"""
