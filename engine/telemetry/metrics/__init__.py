"""Metrics for Prometheus, summed over all workers. ONE FILE = ONE GROUP OF METRICS: it defines each
metric of its subject and records it (`requests`, `streams`, `usage`, `teams_and_tags`, `mcp`,
`inference`, `process`). Gauges of what other rooms hold are defined and collected there, in a
`metrics.py`.

Read `worker_metrics.py` first. `labels` are what groups share, `storage/` is where the numbers are.
"""
