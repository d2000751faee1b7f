"""Data that outlives a request: `records/` (SQL: tokens and usage), `ledger/` (the journal, and its
shipping to the database) and `counters/` (limits, in shared memory or Redis). Read
`ledger/entry.py` first.
"""
