"""Metrics for Prometheus, summed over all workers. ONE FILE = ONE GROUP OF METRICS: it defines each
metric of its subject and records it (`requests`, `streams`, `usage`, `upstreams`, `stores`,
`process`).

Read `recorder.py` first. `labels` are what groups share, `storage/` is where the numbers are.
"""
