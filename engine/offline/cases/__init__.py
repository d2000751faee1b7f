"""The cases of `modelway test`: `read.py` reads them, `run.py` plays them, `judge.py` compares the
results. Read `read.py` first.
"""
