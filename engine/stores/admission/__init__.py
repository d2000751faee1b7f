"""Admission control of upstreams with `max_in_flight`, over all workers of a machine: `queue.py` is
the law, on values; `shared_queue.py` keeps its state in shared memory.
"""
