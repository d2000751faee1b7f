"""What the gateway costs beside others, in one run on one machine.

python -m benchmarks.compare           writes docs/explanation/performance.md and its plot
python -m benchmarks.compare --quick   tries everything, and writes nothing
"""
