"""The ledger: one entry per request (`entry.py`), appended by each worker to its journal
(`journal.py`) and shipped to the database in batches (`shipper.py`). Read `entry.py` first.
"""
