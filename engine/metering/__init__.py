"""The usage of requests: estimated from the request, read from the answer as it passes.
Read `readers.py` first. How an API reports usage is part of its dialect.
"""
