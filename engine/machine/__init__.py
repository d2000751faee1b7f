"""What the workers of one machine share: files in memory, and locks that the system releases when a
process ends. `shared_memory` is an LMDB database, `state` has counters and numbers by name, and
`worker_locks` the numbers of workers. Read `worker_locks.py` first.
"""
