"""Counters of many machines in Redis or Valkey. Read `counters.py` first: a take of all limits of a
request; `client.py` has the connections to a server, and `scripts.py` what runs in it.
"""
