"""Batches: many requests in one, judged one by one, whose results are counted when they are read.
Read `batch_route.py` first.
"""
