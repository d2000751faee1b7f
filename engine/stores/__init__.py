"""Data that outlives a request: `database/` (SQL: tokens and usage), `ledger/` (the journal, and
its shipping to the database), `counters/` (limits, in shared memory or Redis) and `admission/`
(slots and queues of upstreams). Read `ledger_entry.py` first.
"""
