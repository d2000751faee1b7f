"""The ledger: one entry per request, written to a journal file by each worker (`journal.py`) and
shipped to the database in batches (`shipper.py`).
"""
