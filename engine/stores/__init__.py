"""What outlives a request: `records/` (SQL: tokens and usage), `ledger/` (the journal and how it is
shipped to the database) and `counters/` (limits, in shared memory or Redis).
"""
