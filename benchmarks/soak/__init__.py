"""Memory over time under mixed load with faults.

python -m benchmarks.soak --minutes 30
"""
