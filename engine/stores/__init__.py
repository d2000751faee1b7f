"""Data that outlives a request: `records/` (SQL: tokens and usage), `ledger/` (the journal, and its
shipping to the database), `counters/` (limits, in shared memory or Redis), `admission/` (places
and queues of upstreams) and `machine_state.py` (counters and numbers that the workers of a machine
share). Read `ledger/entry.py` first.
"""
