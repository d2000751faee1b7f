"""Who may send to an upstream with `max_in_flight`, and who waits, over all workers of a machine:
`queue.py` is the law, on values; `shared_queue.py` keeps it in shared memory.
"""
