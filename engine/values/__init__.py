"""The ground floor: pure values that import nothing of ours but each other, and the helper that
finds plug-ins (`discovery.py`). What acts stands in `process/`. Read `errors.py`, `caller.py` and
`quota.py` first.
"""
