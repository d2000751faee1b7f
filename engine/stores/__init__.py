"""Data that outlives a request: `records/` (SQL: tokens and usage), `ledger/` (the journal, and its
shipping to the database), `counters/` (limits, in shared memory or Redis) and `admission/` (places
and queues of upstreams). Read `ledger/entry.py` first.
"""
