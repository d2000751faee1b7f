"""The cases of `modelway test`: `read.py` reads them, `run.py` plays them and compares the
results. Read `read.py` first.
"""
