"""Metrics for Prometheus, summed over all workers. A metric is defined and recorded in the module
of its group: `requests`, `streams`, `usage`, `upstreams`, `stores` or `process`.

Read `recorder.py` first. `registry` lists all metrics; `cells`, `folder` and `page` are the storage
that workers share.
"""
