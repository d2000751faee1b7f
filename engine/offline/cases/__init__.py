"""The cases of `modelway test`: read (`read.py`, the first to read), played (`run.py`) and judged
(`judge.py`).
"""
