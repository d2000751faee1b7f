"""Text with positions: YAML and JSON with the line and column of every value, and the `Problem`
that names one. Read `reader.py` first, then `problem.py`.
"""
