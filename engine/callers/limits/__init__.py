"""The limits of callers: which a request takes (`route_limits.py`, then `limit_set.py`), those that
are a caller's own, and the warnings before one ends. What a kind of quota counts, and its refusal,
is its row of KINDS in `values/quota.py`.
"""
