"""The ledger: one entry per request (`stores/ledger_entry.py`), appended by each worker to its
journal (`journal.py`) and shipped to the database in batches by the recorder (`shipper.py`).
"""
