"""Data that outlives a request: `records/` (SQL: tokens and usage), `ledger/` (the journal, and its
shipping to the database), `counters/` (limits, in shared memory or Redis), `admission/` (who may
send to an upstream, and who waits) and `machine_state.py` (what the workers of a machine share).
Read `ledger/entry.py` first.
"""
