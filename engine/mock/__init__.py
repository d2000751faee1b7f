"""The mock upstream: answers made from the documents, for tests and `modelway demo`.
Read `app.py` first.
"""
