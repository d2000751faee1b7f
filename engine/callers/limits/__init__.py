"""The limits of callers: which a request takes (`route_limits.py`, then `limit_set.py`), those that
are a caller's own, and the warnings before one ends.
"""
