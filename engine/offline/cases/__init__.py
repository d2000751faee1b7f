"""The cases of `modelway test`: read (`read.py`), played (`run.py`) and judged (`judge.py`)."""
