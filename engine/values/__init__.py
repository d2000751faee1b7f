"""The ground floor: pure values that import nothing of ours but each other. What acts stands in
`process/`. Read `errors.py`, `caller.py` and `quota.py` first.
"""
