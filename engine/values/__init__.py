"""The ground floor: pure values that import nothing of ours but each other, and do no I/O beyond
asking the operating system for limits and folders. Read `errors.py`, `caller.py` and `quota.py`
first.
"""
