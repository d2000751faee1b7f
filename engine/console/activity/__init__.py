"""What a running gateway does, computed from its metrics: for `modelway top` and the page of
operations. Read `metrics_change.py` first.
"""
