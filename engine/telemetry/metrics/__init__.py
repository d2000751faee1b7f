"""Metrics for Prometheus, summed over all workers. `definitions.py` lists every metric."""
